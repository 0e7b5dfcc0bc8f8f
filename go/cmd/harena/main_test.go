package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/harena-project/harena/go/live"
	"github.com/harena-project/harena/go/scope"
)

// result is what a command did.
type result struct {
	code     int
	out, err string
}

func harena(t *testing.T, arguments ...string) result {
	t.Helper()
	var out, wrong bytes.Buffer
	code := runWith(context.Background(), arguments, strings.NewReader(""), &out, &wrong)
	return result{code, out.String(), wrong.String()}
}

func (r result) expect(t *testing.T, code int, words ...string) {
	t.Helper()
	if r.code != code {
		t.Errorf("the exit code is %d; want %d\n%s%s", r.code, code, r.out, r.err)
	}
	for _, word := range words {
		if !strings.Contains(r.out+r.err, word) {
			t.Errorf("%q is not in\n%s%s", word, r.out, r.err)
		}
	}
}

const recordedStatus = "../../../testdata/status/cpp.json"

// recordedListener answers as the live listener of a C++ server does; it asks for a token.
func recordedListener(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(recordedStatus)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	answer := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer secret" {
				w.WriteHeader(http.StatusUnauthorized)
				_, _ = w.Write([]byte(`{"error": "the token is missing or wrong"}`))
				return
			}
			_, _ = w.Write([]byte(text))
		}
	}
	mux.HandleFunc("GET /harena/api/status", answer(string(data)))
	mux.HandleFunc("GET /harena/api/timeline", answer(`{"interval_ms": 1000, "samples": []}`))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

func TestConfigCheck(t *testing.T) {
	folder := "../../../testdata/config/"
	harena(t, "config", "check", folder+"valid/everything.yaml").expect(t, 0, "everything.yaml: in order")
	harena(t, "config", "check", folder+"invalid/unknown_key.yaml").expect(t, 1,
		`unknown_key.yaml:2:1: unknown key "defalts"; did you mean defaults?`)
	harena(t, "config", "check", folder+"valid/everything.yaml", "--language", "go").expect(t, 1, "mode reuse is for C++ alone")
	harena(t, "config", "check", folder+"none.yaml").expect(t, 2, "no such file")
	harena(t, "config", "check").expect(t, 2, "accepts 1 arg")
	harena(t, "config", "check", "x", "--language", "perl").expect(t, 2, "go or c++")
	t.Setenv("HARENA_MODE", "fast")
	harena(t, "config", "check", folder+"valid/minimal.yaml").expect(t, 0)
	harena(t, "config", "check", folder+"valid/minimal.yaml", "--environment").expect(t, 1, `HARENA_MODE: mode is "fast"`)
}

func TestConfigCheckJSON(t *testing.T) {
	got := harena(t, "config", "check", "../../../testdata/config/invalid/duplicate_key.yaml", "--json")
	var told checked
	if err := json.Unmarshal([]byte(got.out), &told); err != nil {
		t.Fatal(err)
	}
	if got.code != 1 || told.Valid || len(told.Problems) != 3 || told.Problems[0].Line != 5 || told.Problems[0].Column != 3 {
		t.Errorf("exit code %d, %+v", got.code, told)
	}
}

func TestConfigCheckReadsStandardInput(t *testing.T) {
	var out, wrong bytes.Buffer
	code := runWith(context.Background(), []string{"config", "check", "-"}, strings.NewReader("version: 2"), &out, &wrong)
	if code != 1 || !strings.HasPrefix(out.String(), "-:1:10: version is") {
		t.Errorf("exit code %d, %s%s", code, out.String(), wrong.String())
	}
}

func TestRecordAdviseAndWrite(t *testing.T) {
	address := recordedListener(t)
	harena(t, "status", address).expect(t, 2, "401", "HARENA_LIVE_TOKEN")
	t.Setenv("HARENA_LIVE_TOKEN", "secret")
	folder := t.TempDir()
	profile, settings := filepath.Join(folder, "profile.json"), filepath.Join(folder, "harena.yaml")
	harena(t, "status", address, "-o", profile).expect(t, 0)
	live, file := harena(t, "advise", address), harena(t, "advise", profile)
	if live.out != file.out || live.code != 0 {
		t.Errorf("the advice is another from a file:\n%s\n%s", live.out, file.out)
	}
	file.expect(t, 0, "/shop.Ranking/Rank\n  request_bytes_max: unlimited -> 8MiB\n    because the largest of")
	harena(t, "advise", profile, "--write", settings).expect(t, 0, "written to "+settings)
	harena(t, "advise", profile, "--write", settings).expect(t, 2, "--force replaces it")
	harena(t, "advise", profile, "--write", settings, "--force").expect(t, 0)
	harena(t, "config", "check", settings).expect(t, 0)
}

func TestTopOnce(t *testing.T) {
	t.Setenv("HARENA_LIVE_TOKEN", "secret")
	address := recordedListener(t)
	got := harena(t, "top", address, "--once", "--interval", "100ms", "--sort", "requests")
	got.expect(t, 0, "METHOD", "/shop.Ranking/Rank     codec")
	if lines := strings.Count(got.out, "\n"); lines != 8 {
		t.Errorf("%d lines; want the headline, the titles and six methods\n%s", lines, got.out)
	}
	harena(t, "top", address, "--sort", "colour").expect(t, 2, "--sort is", "refused")
	harena(t, "top", address, "--interval", "1ms").expect(t, 2, "at least 100ms")
}

// The tests' output is no terminal.
func TestTopWithoutATerminal(t *testing.T) {
	got := harena(t, "top", "127.0.0.1:9090")
	got.expect(t, 2, "no terminal", "--once")
	if strings.Contains(got.err, "bubbletea") {
		t.Errorf("it speaks of its own parts: %s", got.err)
	}
}

func TestAdviseWithoutAdviceWritesNothing(t *testing.T) {
	data, err := os.ReadFile(recordedStatus)
	if err != nil {
		t.Fatal(err)
	}
	var quiet map[string]any
	if err := json.Unmarshal(data, &quiet); err != nil {
		t.Fatal(err)
	}
	for _, method := range quiet["methods"].([]any) {
		method.(map[string]any)["requests"] = 0
	}
	if data, err = json.Marshal(quiet); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	profile, settings := filepath.Join(folder, "profile.json"), filepath.Join(folder, "harena.yaml")
	if err := os.WriteFile(profile, data, 0o600); err != nil {
		t.Fatal(err)
	}
	harena(t, "advise", profile, "--write", settings).expect(t, 0, "no setting is advised: nothing is written to "+settings)
	if _, err := os.Stat(settings); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file is there: %v", err)
	}
	if err := os.WriteFile(settings, []byte("version: 1\nmode: codec\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := harena(t, "advise", profile, "--write", settings, "--force", "--json")
	got.expect(t, 0, "nothing is written")
	if !json.Valid([]byte(got.out)) {
		t.Errorf("what scripts read is no JSON: %s", got.out)
	}
	if kept, err := os.ReadFile(settings); err != nil || string(kept) != "version: 1\nmode: codec\n" {
		t.Errorf("the file has become %q (%v)", kept, err)
	}
}

// What another program answers, or nobody, is told as such.
func TestOtherServers(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"a page":               func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>hello</html>")) },
		"another's JSON":       func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"hello": "world"}`)) },
		"JSON of other types":  func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"language": "go", "pid": "x"}`)) },
		"a JSON list":          func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`[1, 2]`)) },
		"nothing":              func(http.ResponseWriter, *http.Request) {},
		"not found":            http.NotFound,
		"forbidden":            func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "forbidden", http.StatusForbidden) },
		"what is not HTTP":     func(w http.ResponseWriter, _ *http.Request) { hijack(t, w, "\x00\x00\x12\x04\x00\x00\x00\x00\x00") },
		"the connection's end": func(w http.ResponseWriter, _ *http.Request) { hijack(t, w, "") },
	} {
		t.Run(name, func(t *testing.T) {
			other := httptest.NewServer(answer)
			defer other.Close()
			for _, arguments := range [][]string{{"status"}, {"advise"}, {"top", "--once", "--interval", "100ms"}} {
				harena(t, append(arguments, other.URL)...).expect(t, 2, other.URL, "this is not a Harena server")
			}
		})
	}
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	harena(t, "advise", closed.URL).expect(t, 2, "is the server's live listener on?")
	harena(t, "top", "ftp://x", "--once").expect(t, 2, "no address of a listener")
	harena(t, "advise", "none.json").expect(t, 2, "no such file")
	path := filepath.Join(t.TempDir(), "other.json")
	if err := os.WriteFile(path, []byte(`{"status": {}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	harena(t, "advise", path).expect(t, 2, "no recorded profile")
}

// hijack answers these bytes in place of HTTP.
func hijack(t *testing.T, w http.ResponseWriter, bytes string) {
	connection, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		t.Error(err)
		return
	}
	_, _ = connection.Write([]byte(bytes))
	connection.Close()
}

// What a Harena server refuses is told in its words.
func TestRefusalsOfTheListener(t *testing.T) {
	t.Setenv("HARENA_LIVE_TOKEN", "")
	handler, err := live.NewHandler(live.Options{Token: "a-token-of-the-tests"})
	if err != nil {
		t.Fatal(err)
	}
	defer handler.Close()
	edit := func(r *http.Request) { r.RemoteAddr = "192.0.2.9:4711" }
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		edit(r)
		handler.ServeHTTP(w, r)
	}))
	defer server.Close()
	harena(t, "status", server.URL).expect(t, 2, "401", "HARENA_LIVE_TOKEN")
	edit = func(r *http.Request) { r.Host = "metrics.example" }
	harena(t, "status", server.URL).expect(t, 2, "421", "not known by the name of the Host header")
}

// The listener of this repository answers what is read here.
func TestLiveListener(t *testing.T) {
	group, err := scope.NewGroup([]string{"/live.S/One"}, scope.Options{RequestBytesMax: 4 << 20}, nil)
	if err != nil {
		t.Fatal(err)
	}
	group.Publish("grpc-go")
	defer runtime.KeepAlive(group)
	for range 2000 {
		s := group.Pool("/live.S/One").Get()
		s.End()
	}
	listener, err := live.Listen("127.0.0.1:0", live.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	address := listener.Addr().String()
	harena(t, "top", address, "--once", "--interval", "100ms").expect(t, 0, "(go)", "/live.S/One  codec", "4.0 MiB", "2000")
	harena(t, "advise", address).expect(t, 0, "/live.S/One")
	profile := harena(t, "status", address)
	profile.expect(t, 0, `"timeline"`, `"/live.S/One"`)
}

func TestHelpAndCompletion(t *testing.T) {
	harena(t, "--help").expect(t, 0, "harena advise today.json", "completion")
	harena(t, "version").expect(t, 0, "harena ", "built with "+runtime.Version())
	harena(t, "completion", "bash").expect(t, 0, "bash completion")
	if long, flag := harena(t, "version"), harena(t, "--version"); flag != long {
		t.Errorf("--version: %+v; version: %+v", flag, long)
	}
}

func TestUnknownCommands(t *testing.T) {
	for _, one := range []struct{ line, unknown string }{
		{"advice", `unknown command "advice" for "harena"; did you mean advise?`},
		{"advice today.json --write new.yaml", `unknown command "advice" for "harena"; did you mean advise?`},
		{"config chek", `unknown command "chek" for "harena config"; did you mean check?`},
		{"config chek x --json", `unknown command "chek" for "harena config"; did you mean check?`},
		{"completion bas", `unknown command "bas" for "harena completion"; did you mean bash?`},
		{"help advice", `unknown command "advice" for "harena"; did you mean advise?`},
		{"help config chek", `unknown command "chek" for "harena config"; did you mean check?`},
		{"config unlike", "`harena config --help` lists what there is"},
		{"unlike", "`harena --help` lists what there is"},
	} {
		t.Run(one.line, func(t *testing.T) {
			got := harena(t, strings.Fields(one.line)...)
			got.expect(t, 2, one.unknown)
			if got.out != "" {
				t.Errorf("it prints %s", got.out)
			}
		})
	}
	for _, line := range []string{"", "help", "config", "config --help", "help config", "help config check"} {
		harena(t, strings.Fields(line)...).expect(t, 0, "Usage:")
	}
}

func TestAdviseAsJSON(t *testing.T) {
	got := harena(t, "advise", "--json", recordedStatus)
	got.expect(t, 0)
	var report struct {
		Advice []struct{ Method, Key, To, Evidence, Saving string }
	}
	if err := json.Unmarshal([]byte(got.out), &report); err != nil {
		t.Fatalf("%v in\n%s", err, got.out)
	}
	if len(report.Advice) == 0 || report.Advice[0].Evidence == "" || report.Advice[0].Saving == "" {
		t.Errorf("advice is %+v", report.Advice)
	}
}

func TestReplayHandsOn(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("HARENA_REPLAY", folder)
	harena(t, "replay", "capture").expect(t, 2, "HARENA_REPLAY", folder)
	if err := os.MkdirAll(filepath.Join(folder, "bench", "replay"), 0o755); err != nil {
		t.Fatal(err)
	}
	program := "import sys\nprint('given', sys.argv[1:])\nsys.exit(1)\n"
	if err := os.WriteFile(filepath.Join(folder, "bench", "replay", "run.py"), []byte(program), 0o644); err != nil {
		t.Fatal(err)
	}
	harena(t, "replay", "capture", "--proto", "a.proto", "--help").expect(t, 1, "given ['capture', '--proto', 'a.proto', '--help']")
}

// What a build stamps in is what is told; without a stamp it is the version of the module.
func TestVersionText(t *testing.T) {
	if got, want := versionText("1.2.3"), "harena 1.2.3, built with "+runtime.Version(); got != want {
		t.Errorf("%q; want %q", got, want)
	}
	if got := versionText(""); !strings.HasPrefix(got, "harena (devel)") && !strings.HasPrefix(got, "harena 0.") {
		t.Errorf("%q; want the version of the module", got)
	}
}
