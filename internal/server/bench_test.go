package server

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/store"
)

// BenchmarkWebhooks measures how many signed deliveries over HTTP are stored with their jobs in a
// second, each on disk before its answer. Senders and server share the machine.
func BenchmarkWebhooks(b *testing.B) {
	for _, e := range []struct {
		name string
		open func(testing.TB) *store.DB
	}{
		{"sqlite", openSQLite},
		{"postgresql", func(t testing.TB) *store.DB { return openURL(t, needs.PostgreSQLServer(t, true).Database(t)) }},
	} {
		b.Run(e.name, func(b *testing.B) {
			s := newStage(b, e.open(b), nil)
			listener, err := (&net.ListenConfig{}).Listen(b.Context(), "tcp", "127.0.0.1:0")
			if err != nil {
				b.Fatal(err)
			}
			server := s.Server.web()
			go func() { _ = server.Serve(s.limited(listener)) }()
			defer server.Close()
			const senders = 64
			client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: senders, MaxConnsPerHost: senders}}
			address := "http://" + listener.Addr().String() + "/webhooks/github"
			var number atomic.Int64
			b.SetParallelism(senders / 2)
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					n := int(number.Add(1))
					body := pullEvent("synchronize", n%5000+1, sha(n))
					r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, address, bytes.NewReader(body))
					if err != nil {
						b.Fatal(err)
					}
					r.Header.Set("Content-Type", "application/json")
					r.Header.Set("X-GitHub-Event", "pull_request")
					r.Header.Set("X-GitHub-Delivery", fmt.Sprint(n))
					r.Header.Set("X-Hub-Signature-256", "sha256="+sign(sha256.New, newSecret, body))
					resp, err := client.Do(r)
					if err != nil {
						b.Error(err)
						return
					}
					_, _ = io.Copy(io.Discard, resp.Body)
					_ = resp.Body.Close()
					if resp.StatusCode != http.StatusAccepted {
						b.Errorf("status %d", resp.StatusCode)
						return
					}
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "deliveries/s")
		})
	}
}
