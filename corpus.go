package precedent

import "time"

// CorpusComment is a comment that a person wrote on a pull request, as the corpus keeps it. Its
// texts contain no secrets.
type CorpusComment struct {
	// Kind is what it is attached to: inline for lines of the diff, review for the text of a
	// review, issue for the pull request as a whole. Ids are unique within a kind.
	Kind string  `json:"kind"`
	ID   ForgeID `json:"id"`
	Pull int     `json:"pull"`
	// Root is the id of the first comment of its conversation on lines; its own id for a comment
	// that starts one, and for those of other kinds.
	Root     ForgeID `json:"root"`
	AuthorID ForgeID `json:"author_id"`
	Author   string  `json:"author"` // login
	// MayWrite tells whether the author had write permission when the comment was first stored,
	// as far as the forge told.
	MayWrite  bool      `json:"may_write"`
	Body      Untrusted `json:"body"`
	Span                // zero unless Kind is inline; the lines are those of Commit
	Hunk      Untrusted `json:"hunk"`     // the end of the diff hunk above the comment, the commented line last
	Commit    string    `json:"commit"`   // that was commented; may be empty
	Outdated  bool      `json:"outdated"` // the commented lines have changed since
	URL       string    `json:"url"`      // its permalink
	At        time.Time `json:"at"`
	UpdatedAt time.Time `json:"updated_at"`
	// DeletedAt is when it was found to be deleted; zero for one that exists.
	DeletedAt time.Time `json:"deleted_at"`
}

// CorpusPull is a pull request whose comments the corpus has.
type CorpusPull struct {
	Number   int       `json:"number"`
	Title    string    `json:"title"`
	AuthorID ForgeID   `json:"author_id"`
	Author   string    `json:"author"` // login
	Merged   time.Time `json:"merged"` // zero if it is not merged
	// Reverted is the later pull request that reverted it; 0 for none.
	Reverted  int       `json:"reverted"`
	UpdatedAt time.Time `json:"updated_at"`
}

// CommentOutcome is what happened after a comment.
type CommentOutcome string

// The outcomes. The empty one is unknown.
const (
	CommentAdopted  CommentOutcome = "adopted"  // the commented lines were changed after it, and the change was merged
	CommentDeclined CommentOutcome = "declined" // the author or a maintainer said no, and the lines stayed
	CommentReverted CommentOutcome = "reverted" // what it led to was reverted later
)

// CorpusChunk is a window of a conversation that people had about a change. It is what is
// searched, and what a review can cite. Its metadata are those of the first human comment.
type CorpusChunk struct {
	CorpusComment
	Chunk     int    `json:"chunk"` // from 0 within the conversation
	PullTitle string `json:"pull_title"`
	// Text are lines of the form "@login (YYYY-MM-DD): body".
	Text Untrusted `json:"text"`
	// Words is the first comment without quotes, suggestions and addresses.
	Words   Untrusted      `json:"words"`
	Outcome CommentOutcome `json:"outcome"`
	// Unusable says why the chunk is not a precedent; empty for a usable one.
	Unusable string `json:"unusable"`
}

// CitedComment is the source of a citation of a person's comment.
type CitedComment struct {
	Pull     int       `json:"pull_request"`
	AuthorID ForgeID   `json:"author_id"`
	Author   string    `json:"author"` // login
	At       time.Time `json:"at"`
	Path     string    `json:"path"` // empty for a comment on no file
	Line     int       `json:"line"` // 0 for none
	Kind     string    `json:"kind"` // see CorpusComment
	// Similarity is that of the texts of finding and comment, from 0 to 1, and Quote the sentence of the
	// comment by which a model found that both make the same point; empty if the similarity alone decided.
	Similarity float64 `json:"similarity"`
	Quote      string  `json:"quote"`
}

// CorpusUse counts what a review did with the comments of people.
type CorpusUse struct {
	Searched int `json:"searched"` // usable comments of other pull requests
	Shown    int `json:"shown"`    // norms that the finders were given
	Cited    int `json:"cited"`    // comments that findings cite
	// Failures are what the search went on without, each in one sentence.
	Failures []string `json:"failures"`
}

// CitationDisplay says how a posted comment cites what people wrote.
type CitationDisplay string

// The ways to cite. Only PrecedentsFull notifies the author and links back from the pull request.
const (
	PrecedentsQuiet     CitationDisplay = "quiet" // the default: number, author and permalink as plain text
	PrecedentsFull      CitationDisplay = "full"  // as live references: (PR #7, @author)
	PrecedentsAnonymous CitationDisplay = "anonymous"
	PrecedentsOff       CitationDisplay = "off" // nothing is searched
)
