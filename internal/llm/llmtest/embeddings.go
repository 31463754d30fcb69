package llmtest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// TextRequest is a request for the vectors of texts.
type TextRequest struct {
	N          int // from 0, in the order of arrival
	Model      string
	Texts      []string
	Dimensions int // 0 if the request does not say
	Header     http.Header
	Body       []byte
}

// VectorReply is the answer to a request for vectors. Its zero value has a vector for each
// text, which depends on its words alone.
type VectorReply struct {
	// Vectors are in the order of the texts; nil for those of Words. Values that are not finite
	// are written as Python does.
	Vectors   [][]float32
	Size      int  // of the vectors of Words; 0 means what the request says, else 8
	Shuffled  bool // not in the order of the texts
	Unindexed bool // without numbers
	Uncount   bool // nothing is said of usage
	Tokens    int  // of the usage; 0 means one for four characters

	// Status other than 0 and 200 is an error, with Message. Body is sent as it stands, with any
	// status. Headers go with any reply. Cut and Hold are those of Reply.
	Status  int
	Header  http.Header
	Message string
	Body    string
	Cut     int
	Flood   bool // spaces without end
	Hold    <-chan struct{}
}

// TextHandler returns the reply to a request for vectors. It is called concurrently.
type TextHandler func(TextRequest) VectorReply

// VectorScript answers the nth request with the nth reply, and later ones with the last.
func VectorScript(replies ...VectorReply) TextHandler {
	return func(r TextRequest) VectorReply { return replies[min(r.N, len(replies)-1)] }
}

// EmbeddingServer serves OpenAI's embeddings. URL is the base that a client is given.
type EmbeddingServer struct {
	URL     string
	handler TextHandler
	closed  chan struct{}

	mu       sync.Mutex
	requests []TextRequest
}

// Embeddings serves OpenAI's embeddings until the test has ended.
func Embeddings(t testing.TB, h TextHandler) *EmbeddingServer {
	t.Helper()
	s := &EmbeddingServer{handler: h, closed: make(chan struct{})}
	server := httptest.NewServer(http.HandlerFunc(s.serve))
	s.URL = server.URL + "/v1"
	t.Cleanup(func() {
		close(s.closed)
		server.Close()
	})
	return s
}

// Requests returns the requests so far, in the order of arrival.
func (s *EmbeddingServer) Requests() []TextRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

func (s *EmbeddingServer) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	if r.Method != http.MethodPost || r.URL.Path != "/v1/embeddings" {
		http.Error(w, "404 page not found", http.StatusNotFound)
		return
	}
	request, refused := parseTexts(body)
	request.Header = r.Header.Clone()
	s.mu.Lock()
	request.N = len(s.requests)
	s.requests = append(s.requests, request)
	s.mu.Unlock()
	reply := VectorReply{Status: http.StatusBadRequest, Message: refused}
	if refused == "" {
		reply = s.handler(request)
	}
	out := &stream{w: w, client: r.Context().Done(), closed: s.closed, left: reply.Cut, bounded: reply.Cut > 0}
	if !out.wait(reply.Hold) {
		return
	}
	w.Header().Set("Content-Type", "application/json")
	maps.Copy(w.Header(), reply.Header)
	if reply.Status != 0 {
		w.WriteHeader(reply.Status)
	}
	switch {
	case reply.Body != "":
		out.write([]byte(reply.Body))
	case reply.Status != 0 && reply.Status != http.StatusOK:
		out.write(encode(openAIFailure(reply.Status, reply.Message)))
	default:
		out.write(vectorsBody(request, reply))
	}
	for reply.Flood && !out.over {
		out.write([]byte(strings.Repeat(" ", 1<<20)))
	}
}

// parseTexts reads a request, and says why it is refused.
func parseTexts(body []byte) (TextRequest, string) {
	var form struct {
		Model      string   `json:"model"`
		Input      []string `json:"input"`
		Dimensions *int     `json:"dimensions"`
	}
	r := TextRequest{Body: body}
	decoder := json.NewDecoder(strings.NewReader(string(body)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&form); err != nil {
		return r, "could not parse the JSON body: " + err.Error()
	}
	r.Model, r.Texts = form.Model, form.Input
	if form.Dimensions != nil {
		if r.Dimensions = *form.Dimensions; r.Dimensions < 1 {
			return r, "dimensions is less than the minimum of 1"
		}
	}
	if r.Model == "" || len(r.Texts) == 0 || len(r.Texts) > 2048 || slices.Contains(r.Texts, "") {
		return r, "you must provide a model and 1 to 2048 inputs, none of them empty"
	}
	return r, ""
}

func vectorsBody(r TextRequest, reply VectorReply) []byte {
	vectors, tokens := reply.Vectors, reply.Tokens
	if vectors == nil {
		for _, text := range r.Texts {
			vectors = append(vectors, Words(text, cmp.Or(reply.Size, r.Dimensions, 8)))
		}
	}
	var rows []string
	for i, v := range vectors {
		row := `"object":"embedding","embedding":` + writeVector(v)
		if !reply.Unindexed {
			row += fmt.Sprintf(`,"index":%d`, i)
		}
		rows = append(rows, "{"+row+"}")
	}
	if reply.Shuffled {
		slices.Reverse(rows)
	}
	body := `{"object":"list","model":"` + r.Model + `","data":[` + strings.Join(rows, ",") + "]"
	if tokens == 0 {
		tokens = len(strings.Join(r.Texts, "")) / 4
	}
	if !reply.Uncount {
		body += fmt.Sprintf(`,"usage":{"prompt_tokens":%d,"total_tokens":%d}`, tokens, tokens)
	}
	return []byte(body + "}")
}

func writeVector(v []float32) string {
	var values []string
	for _, f := range v {
		value := strconv.FormatFloat(float64(f), 'g', -1, 32)
		if math.IsInf(float64(f), 0) {
			value = strings.Replace(strings.TrimPrefix(value, "+"), "Inf", "Infinity", 1)
		}
		values = append(values, value)
	}
	return "[" + strings.Join(values, ",") + "]"
}

// Words is a vector of a text: the sum of one direction for each of its words, so that texts
// with the same words are near.
func Words(text string, size int) []float32 {
	v := make([]float32, size)
	v[0] = 0.01 // of a text without words, too
	for word := range strings.FieldsSeq(strings.ToLower(text)) {
		h := fnv.New64a()
		_, _ = h.Write([]byte(word)) // it never fails
		source := rand.New(rand.NewPCG(h.Sum64(), 1))
		for i := range v {
			v[i] += float32(source.NormFloat64())
		}
	}
	return v
}
