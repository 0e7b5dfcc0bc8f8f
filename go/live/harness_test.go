package live

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/harena-project/harena/go/scope"
)

const (
	testToken = "a-token-of-the-tests"
	rank      = "/test.Live/Rank"
	board     = "/test.Live/Board"
)

// serveTest returns a handler with two methods to show, for as long as the test runs.
func serveTest(t *testing.T, options Options) (*Handler, *scope.Group) {
	t.Helper()
	group, err := scope.NewGroup([]string{rank, board}, scope.Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	group.Publish("test-live")
	handler, err := NewHandler(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		handler.Close()
		runtime.KeepAlive(group)
		// Groups of tests that are over would answer to the same names.
		group = nil
		runtime.GC()
	})
	return handler, group
}

// ask sends a request from this machine, as edited.
func ask(handler http.Handler, method, path, body string, edit func(*http.Request)) *httptest.ResponseRecorder {
	request := httptest.NewRequest(method, path, strings.NewReader(body))
	request.Host, request.RemoteAddr = "127.0.0.1:9090", "127.0.0.1:4711"
	request.Header.Set("Content-Type", "application/json")
	if edit != nil {
		edit(request)
	}
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, request)
	return recorder
}

func withToken(r *http.Request) { r.Header.Set("Authorization", "Bearer "+testToken) }

func decode[T any](t *testing.T, from io.Reader) T {
	t.Helper()
	text, err := io.ReadAll(from)
	if err != nil {
		t.Fatal(err)
	}
	var into T
	decoder := json.NewDecoder(bytes.NewReader(text))
	if err := decoder.Decode(&into); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return into
}

func statusFrom(t *testing.T, handler http.Handler) status {
	t.Helper()
	got := ask(handler, "GET", "/harena/api/status", "", nil)
	if got.Code != http.StatusOK {
		t.Fatalf("status: %d %s", got.Code, got.Body)
	}
	return decode[status](t, got.Body)
}

func methodFrom(t *testing.T, handler http.Handler, name string) methodStatus {
	t.Helper()
	for _, m := range statusFrom(t, handler).Methods {
		if m.Name == name && m.Framework == "test-live" {
			return m
		}
	}
	t.Fatalf("no method %s", name)
	return methodStatus{}
}
