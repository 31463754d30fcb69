// Package search finds the documents of one repository that are nearest to a query: by words,
// by the characters of words, and by the vectors of an embedding model. Each is a list of its
// own. Lists of texts are fused by their ranks. A search is exact: it returns what comparing the
// query with every document would.
//
// An index is in memory. It is made from documents, updated in place, and safe for concurrent
// use.
package search

import "time"

// List is one way of comparing.
type List string

// The lists.
const (
	TextWords  List = "text-words"  // BM25 of the text
	TextChars  List = "text-chars"  // TF-IDF of the text's character 3- to 5-grams
	LineWords  List = "line-words"  // BM25 of the commented lines
	LineChars  List = "line-chars"  // TF-IDF of the commented lines' character 3- to 5-grams
	PathWords  List = "path-words"  // BM25 of the path
	TextVector List = "text-vector" // cosine of the vectors of an embedding model
)

// Doc is a document.
type Doc struct {
	ID     string // unique in the index
	Text   string
	Lines  string // of code that the text is about
	Path   string
	Group  int       // the pull request
	At     time.Time // when it was written
	Vector []float32 // of the text; nil if there is none
}

// Query is what to search for. Each list uses the part that it is about; a list whose part is
// empty finds nothing.
type Query struct {
	Text   string
	Lines  string
	Path   string
	Vector []float32
	// Lists are the lists to search. Those in Fused are searched too; they alone decide what is
	// found, and its order.
	Lists, Fused []List
	// Depth is how many documents of each list count, 100 if it is 0, and Limit how many are
	// returned, 20 if it is 0.
	Depth, Limit int
	// NotGroup leaves out the documents of a group, and Before those that are not older than it;
	// 0 and the zero time leave out none.
	NotGroup int
	Before   time.Time
}

// Hit is a document that was found.
type Hit struct {
	ID    string
	Score float64 // the sum over the fused lists of 1 / (60 + rank)
	// Cosine is the similarity of the texts by TextChars, from 0 to 1, whatever the lists.
	Cosine float64
	Ranks  []Rank // in each list that has it
}

// Rank is the place of a document in a list.
type Rank struct {
	List  List
	Rank  int // from 1
	Score float64
}
