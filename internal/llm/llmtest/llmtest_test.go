package llmtest

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// long is a text of n tokens that begins with the name.
func long(name string, n int) string { return (name + strings.Repeat(".", 4*n))[:4*n] }

var cached = object{"type": "ephemeral"}

func text(s string, breakpoint bool) object {
	o := object{"type": "text", "text": s}
	if breakpoint {
		o["cache_control"] = cached
	}
	return o
}

// messages is a body of Anthropic's form; more is put over it.
func messages(more object, content ...any) object {
	body := object{"model": "m", "max_tokens": 100, "stream": true, "messages": []any{object{"role": "user", "content": content}}}
	for k, v := range more {
		body[k] = v
	}
	return body
}

// post sends a request and returns the body of the answer.
func post(t *testing.T, url string, body any) (int, string) {
	t.Helper()
	status, out, err := send(t.Context(), url, body)
	if err != nil {
		t.Fatal(err)
	}
	return status, out
}

func send(ctx context.Context, url string, body any) (int, string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(string(encode(body))))
	if err != nil {
		return 0, "", err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	out, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(out), err
}

// usages are the input, read and written tokens of all answers.
func usages(s *Server) [][3]int {
	var all [][3]int
	for _, e := range s.Exchanges() {
		all = append(all, [3]int{e.Usage.InputTokens, e.Usage.CachedTokens, e.Usage.CacheWriteTokens})
	}
	return all
}

func TestAnthropicCache(t *testing.T) {
	system := []any{text(long("system", 500), true)}
	tool := func(name string) []any { return []any{object{"name": name, "input_schema": object{}}} }
	toolTokens := len(encode(tool("read")[0])) / 4
	own := func(name string) object { return text(long(name, 300), false) }
	prefix := text(long("prefix", 2000), true)
	for _, test := range []struct {
		name   string
		bodies []object
		want   [][3]int
	}{
		{"the same prefix", []object{
			messages(object{"system": system}, prefix, own("a")), messages(object{"system": system}, prefix, own("b")),
		}, [][3]int{{2800, 0, 2500}, {2800, 2500, 0}}},
		{"the longest of several", []object{
			messages(nil, text(long("common", 1500), true), prefix, own("a")),
			messages(nil, text(long("common", 1500), true), text(long("other", 2000), true), own("a")),
		}, [][3]int{{3800, 0, 3500}, {3800, 1500, 2000}}},
		{"without breakpoints", []object{messages(nil, own("a")), messages(nil, own("a"))}, [][3]int{{300, 0, 0}, {300, 0, 0}}},
		{"too short", []object{messages(nil, text(long("a", 1000), true)), messages(nil, text(long("a", 1000), true))}, [][3]int{{1000, 0, 0}, {1000, 0, 0}}},
		{"other tools", []object{
			messages(object{"tools": tool("read"), "system": system}, prefix), messages(object{"tools": tool("list"), "system": system}, prefix),
		}, [][3]int{{2500 + toolTokens, 0, 2500 + toolTokens}, {2500 + toolTokens, 0, 2500 + toolTokens}}},
		{"another form of the answer", []object{
			messages(object{"system": system, "output_config": object{"format": object{"type": "json_schema", "schema": 1234567}}}, prefix),
			messages(object{"system": system}, prefix),
		}, [][3]int{{2501, 0, 2501}, {2500, 0, 2500}}},
		{"another choice of tools", []object{
			messages(object{"system": []any{text(long("system", 1100), true)}}, prefix),
			messages(object{"system": []any{text(long("system", 1100), true)}, "tool_choice": object{"type": "none"}}, prefix),
		}, [][3]int{{3100, 0, 3100}, {3100, 1100, 2000}}},
		{"another model", []object{messages(nil, prefix), messages(object{"model": "n"}, prefix)}, [][3]int{{2000, 0, 2000}, {2000, 0, 2000}}},
		{"a breakpoint that has moved on", []object{
			messages(nil, prefix), messages(nil, text(long("prefix", 2000), false), text(long("more", 100), true)),
		}, [][3]int{{2000, 0, 2000}, {2100, 2000, 100}}},
		{"a breakpoint that has moved too far", []object{
			messages(nil, prefix), messages(nil, append(many(text(long("prefix", 2000), false), 20), text(long("more", 100), true))...),
		}, [][3]int{{2000, 0, 2000}, {2000 + 19 + 100, 0, 2119}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := Anthropic(t, Script(Reply{Text: "ok"}))
			for _, body := range test.bodies {
				if status, out := post(t, s.URL+"/v1/messages", body); status != http.StatusOK {
					t.Fatalf("%d: %s", status, out)
				}
			}
			if d := cmp.Diff(test.want, usages(s)); d != "" {
				t.Error(d)
			}
		})
	}
}

// many is a block with n-1 small ones behind it.
func many(first any, n int) []any {
	list := []any{first}
	for len(list) < n {
		list = append(list, text("tiny", false))
	}
	return list
}

func TestOpenAICache(t *testing.T) {
	s := OpenAI(t, Script(Reply{Text: "ok"}))
	ask := func(parts ...string) {
		post(t, s.URL+"/chat/completions", object{"model": "m", "stream": true, "messages": []any{object{"role": "user", "content": strings.Join(parts, "")}}})
	}
	ask(long("prefix", 1300), "one")
	ask(long("prefix", 1300), "two") // 1,024 and twice 128
	ask(long("prefix", 900))
	ask(long("other", 1300))
	var got []int
	for _, u := range usages(s) {
		got = append(got, u[1])
	}
	if d := cmp.Diff([]int{0, 1280, 0, 0}, got); d != "" {
		t.Error(d)
	}
}

// TestOrder holds the first answer back while others arrive: they can read
// nothing, what comes after its first byte can.
func TestOrder(t *testing.T) {
	hold, pause := make(chan struct{}), make(chan struct{})
	arrived := make(chan int, 3)
	s := Anthropic(t, func(r Request) Reply {
		arrived <- r.N
		if r.N < 2 {
			return Reply{Text: "ok", Hold: hold, Pause: pause}
		}
		return Reply{Text: "ok"}
	})
	body := messages(nil, text(long("prefix", 2000), true))
	done := make(chan error, 2)
	for range 2 {
		go func() {
			_, _, err := send(t.Context(), s.URL+"/v1/messages", body)
			done <- err
		}()
		<-arrived
	}
	if got := s.Totals(); got.BeforeFirstByte != 2 || got.Input != 0 {
		t.Errorf("before any answer: %+v", got)
	}
	close(hold)
	close(pause)
	for range 2 {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	post(t, s.URL+"/v1/messages", body)
	if d := cmp.Diff([][3]int{{2000, 0, 2000}, {2000, 0, 2000}, {2000, 2000, 0}}, usages(s)); d != "" {
		t.Error(d)
	}
	got := s.Totals()
	if d := cmp.Diff(Totals{Requests: 3, Input: 6000, Cached: 2000, Written: 4000, BeforeFirstByte: 2}, got); d != "" {
		t.Error(d)
	}
	if got.ReadShare() != 1.0/3 || got.Billed() != 5200 {
		t.Errorf("read share %v, billed %v", got.ReadShare(), got.Billed())
	}
	last := s.Exchanges()[2]
	if last.Arrived != 4 || last.Answered != 5 || last.Status != http.StatusOK {
		t.Errorf("the last one arrived as %d, answered as %d with %d", last.Arrived, last.Answered, last.Status)
	}
}

func TestAnthropicRefuses(t *testing.T) {
	s := Anthropic(t, Script(Reply{Text: "ok"}))
	var five []any
	for range 5 {
		five = append(five, text("x", true))
	}
	call := object{"type": "tool_use", "id": "t1", "name": "read", "input": object{}}
	for want, body := range map[string]object{
		"A maximum of 4 blocks with cache_control": messages(nil, five...),
		"text content blocks must be non-empty":    messages(nil, text("", false)),
		"Field required":                           messages(object{"max_tokens": 0}, text("x", false)),
		"without `tool_result` blocks": messages(object{"messages": []any{
			object{"role": "user", "content": "x"}, object{"role": "assistant", "content": []any{call}}, object{"role": "user", "content": "y"},
		}}),
	} {
		status, out := post(t, s.URL+"/v1/messages", body)
		if status != http.StatusBadRequest || !strings.Contains(out, want) || !strings.Contains(out, "invalid_request_error") {
			t.Errorf("%d %s, want %q", status, out, want)
		}
	}
	if got := s.Totals(); got.Input != 0 || got.Requests != 4 || got.BeforeFirstByte != 4 {
		t.Errorf("totals %+v", got)
	}
}
