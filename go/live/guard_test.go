package live

import (
	"net/http"
	"strings"
	"testing"
)

const anyChange = `{"settings": {"decoded_floor_bytes": 2097152}}`

func TestWhoMayChange(t *testing.T) {
	writable, group := serveTest(t, Options{Token: testToken})
	for name, one := range map[string]struct {
		edit func(*http.Request)
		want int
	}{
		"no token":            {nil, http.StatusUnauthorized},
		"a wrong one":         {func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+testToken+"x") }, http.StatusUnauthorized},
		"a part of it":        {func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+testToken[1:]) }, http.StatusUnauthorized},
		"an empty one":        {func(r *http.Request) { r.Header.Set("Authorization", "Bearer ") }, http.StatusUnauthorized},
		"another scheme":      {func(r *http.Request) { r.Header.Set("Authorization", testToken) }, http.StatusUnauthorized},
		"a form":              {func(r *http.Request) { withToken(r); r.Header.Set("Content-Type", "text/plain") }, http.StatusUnsupportedMediaType},
		"another site":        {func(r *http.Request) { withToken(r); r.Header.Set("Origin", "http://evil.example") }, http.StatusForbidden},
		"another site's name": {func(r *http.Request) { withToken(r); r.Host = "evil.example:9090" }, http.StatusMisdirectedRequest},
	} {
		for _, path := range []string{"/harena/api/settings", "/harena/api/undo"} {
			if got := ask(writable, "POST", path, anyChange, one.edit); got.Code != one.want {
				t.Errorf("%s, %s: %d %s; want %d", path, name, got.Code, got.Body, one.want)
			}
		}
	}
	if floor := group.Pool(rank).Options().DecodedFloorBytes; floor != 0 {
		t.Errorf("the floor is %d", floor)
	}
	if got := ask(writable, "POST", "/harena/api/settings", anyChange, withToken); got.Code != http.StatusOK {
		t.Errorf("with the token: %d %s", got.Code, got.Body)
	}
	if !statusFrom(t, writable).Writable {
		t.Error("the page is told that it is read-only")
	}
}

func TestReadOnlyWithoutAToken(t *testing.T) {
	t.Setenv(TokenVariable, "")
	handler, _ := serveTest(t, Options{})
	for _, edit := range []func(*http.Request){nil, withToken, func(r *http.Request) { r.Header.Set("Authorization", "Bearer ") }} {
		got := ask(handler, "POST", "/harena/api/settings", anyChange, edit)
		if got.Code != http.StatusForbidden || !strings.Contains(got.Body.String(), "read-only") {
			t.Errorf("%d %s", got.Code, got.Body)
		}
	}
	if statusFrom(t, handler).Writable {
		t.Error("the page is told that it is writable")
	}
}

func TestTokenOfTheEnvironment(t *testing.T) {
	t.Setenv(TokenVariable, testToken)
	handler, _ := serveTest(t, Options{})
	if got := ask(handler, "POST", "/harena/api/settings", anyChange, withToken); got.Code != http.StatusOK {
		t.Errorf("%d %s", got.Code, got.Body)
	}
}

func TestTokensThatAreNone(t *testing.T) {
	for token, reason := range map[string]string{"short": "want 16", "with a space in the middle": "cannot carry", "umlaute-äöüäöüäöü": "cannot carry"} {
		if _, err := NewHandler(Options{Token: token}); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%q: %v", token, err)
		}
	}
}

func TestNamesOfTheServer(t *testing.T) {
	handler, _ := serveTest(t, Options{Hosts: []string{"metrics.internal"}})
	for host, want := range map[string]int{
		"127.0.0.1:9090": 200, "localhost:9090": 200, "LOCALHOST": 200, "[::1]:9090": 200, "192.0.2.7": 200, "Metrics.Internal:80": 200,
		"::1": 200, "[::1]": 200, "[::1": 421, "::1]": 421, "[::1]x:80": 421, "[localhost]": 421, "[127.0.0.1]": 421, "[]": 421, "[": 421,
		"localhost:": 200, "localhost:http": 421, ":9090": 421, "a:b:c": 421, "evil@localhost": 421, "localhost/x": 421,
		"evil.example": 421, "evil.example:9090": 421, "localhost.evil.example": 421, "127.0.0.1.evil.example": 421, "": 421,
	} {
		for _, path := range []string{"/harena", "/harena/api/status", "/harena/api/timeline"} {
			if got := ask(handler, "GET", path, "", func(r *http.Request) { r.Host = host }); got.Code != want {
				t.Errorf("%s as %q: %d; want %d", path, host, got.Code, want)
			}
		}
	}
}

func TestOtherMachinesNeedTheToken(t *testing.T) {
	t.Setenv(TokenVariable, "")
	far := func(r *http.Request) { r.RemoteAddr = "192.0.2.9:4711" }
	farWithToken := func(r *http.Request) { far(r); withToken(r) }
	open, _ := serveTest(t, Options{})
	guarded, _ := serveTest(t, Options{Token: testToken})
	for _, path := range []string{"/harena/api/status", "/harena/api/timeline"} {
		if got := ask(open, "GET", path, "", far); got.Code != http.StatusForbidden {
			t.Errorf("%s without a token: %d", path, got.Code)
		}
		if got := ask(guarded, "GET", path, "", far); got.Code != http.StatusUnauthorized {
			t.Errorf("%s from afar: %d", path, got.Code)
		}
		if got := ask(guarded, "GET", path, "", farWithToken); got.Code != http.StatusOK {
			t.Errorf("%s from afar with the token: %d", path, got.Code)
		}
		if got := ask(guarded, "GET", path, "", nil); got.Code != http.StatusOK {
			t.Errorf("%s from here: %d", path, got.Code)
		}
	}
	if got := ask(guarded, "GET", "/harena", "", far); got.Code != http.StatusOK {
		t.Errorf("the page, which asks for the token: %d", got.Code)
	}
}

func TestBrowsersAreHeldToThisServer(t *testing.T) {
	handler, _ := serveTest(t, Options{Token: testToken})
	for _, path := range []string{"/harena", "/harena/api/status", "/harena/nothing.js"} {
		headers := ask(handler, "GET", path, "", nil).Header()
		if policy := headers.Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none'; script-src 'self';") {
			t.Errorf("%s: policy %q", path, policy)
		}
		if headers.Get("X-Content-Type-Options") != "nosniff" || headers.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: %v", path, headers)
		}
	}
	preflight := ask(handler, "OPTIONS", "/harena/api/settings", "", nil)
	if preflight.Code != http.StatusMethodNotAllowed || preflight.Header().Get("Access-Control-Allow-Headers") != "" {
		t.Errorf("preflight: %d %v", preflight.Code, preflight.Header())
	}
}

func TestBodiesAreBounded(t *testing.T) {
	handler, _ := serveTest(t, Options{Token: testToken})
	got := ask(handler, "POST", "/harena/api/settings", strings.Repeat(" ", bodyBytesMax)+anyChange, withToken)
	if got.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("%d %s", got.Code, got.Body)
	}
}
