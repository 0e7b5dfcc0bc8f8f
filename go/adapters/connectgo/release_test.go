package connectgo_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"github.com/harena-project/harena/go/adapters/connectgo"
	"github.com/harena-project/harena/go/adapters/connectgo/internal/testpb"
	"github.com/harena-project/harena/go/adapters/connectgo/internal/testpb/testpbconnect"
	"github.com/harena-project/harena/go/pb/echotest"
	"github.com/harena-project/harena/go/scope"
)

// The scope is alive for every interceptor and ended when the HTTP handler returns. That it ends once
// needs no test of its own: a second End panics.
func TestWhenTheScopeEnds(t *testing.T) {
	var mu sync.Mutex
	var seen []*scope.Scope
	f := start(t, &echo{say: func(ctx context.Context, in *testpb.Note) (*testpb.Note, error) {
		s := scope.From(ctx)
		if s.Ended() {
			t.Error("the scope has ended in the handler")
		}
		mu.Lock()
		seen = append(seen, s)
		mu.Unlock()
		return echotest.Shout(s.Arena(), in), nil
	}}, connectgo.Options{}, outer(func(ctx context.Context, request connect.AnyRequest, next connect.UnaryFunc) (connect.AnyResponse, error) {
		response, err := next(ctx, request)
		mu.Lock()
		defer mu.Unlock()
		if seen[len(seen)-1].Ended() {
			t.Error("the scope has ended before the outermost interceptor returned")
		}
		return response, err
	}))
	inner := f.server.Config.Handler
	checked := 0
	f.server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		inner.ServeHTTP(w, r)
		mu.Lock()
		defer mu.Unlock()
		if !seen[len(seen)-1].Ended() {
			t.Error("the scope is alive after the HTTP handler")
		}
		checked++
	})
	for _, p := range protocols() {
		if !p.json() { // there the end of the request's context ends it, a little later
			say(t, p.client(t, f.server), echotest.New("n"))
		}
	}
	f.server.Close()
	if checked < 8 {
		t.Errorf("%d calls checked", checked)
	}
}

// Replies that are still being written do not change when their memory serves other requests.
func TestSlowReaders(t *testing.T) {
	f := start(t, &echo{}, connectgo.Options{})
	in := &testpb.Note{}
	for i := range 3000 {
		in.Children = append(in.Children, echotest.New(fmt.Sprint(strings.Repeat("long ", 20), i)))
	}
	body, err := proto.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			response, err := f.server.Client().Post(f.server.URL+testpbconnect.EchoSayProcedure, "application/proto", bytes.NewReader(body))
			if err != nil {
				t.Error(err)
				return
			}
			defer response.Body.Close()
			var got bytes.Buffer
			for err == nil {
				time.Sleep(time.Millisecond)
				_, err = io.CopyN(&got, response.Body, 50_000)
			}
			out := &testpb.Note{}
			if err := proto.Unmarshal(got.Bytes(), out); err != nil || !proto.Equal(out, echotest.Shouted(in)) {
				t.Errorf("a slow reader got something else: %v", err)
			}
		})
	}
	client := f.client(t)
	for i := range 100 {
		say(t, client, echotest.New(fmt.Sprint("meanwhile ", i)))
	}
	group.Wait()
	f.settled(t, "Say")
}
