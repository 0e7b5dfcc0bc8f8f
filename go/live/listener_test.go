package live

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

func TestListenerServesThePageAndItsFiles(t *testing.T) {
	listener, err := Listen("127.0.0.1:0", Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	for path, want := range map[string]string{
		"/":                                "<!doctype html>",
		"/harena":                          "<!doctype html>",
		"/harena/app.js":                   "import",
		"/harena/style.css":                "prefers-color-scheme",
		"/harena/api/status":               `"language":"go"`,
		"/harena/vendor/uPlot.LICENSE.txt": "MIT License",
	} {
		response, err := http.Get("http://" + listener.Addr().String() + path)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(response.Body)
		response.Body.Close()
		if response.StatusCode != http.StatusOK || !strings.Contains(string(body), want) {
			t.Errorf("%s: %d, without %q", path, response.StatusCode, want)
		}
	}
	for _, path := range []string{"/harena/nothing.js", "/harena/vendor", "/harena/vendor/README.md", "/harena/..%2flive.go", "/other"} {
		response, err := http.Get("http://" + listener.Addr().String() + path)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d", path, response.StatusCode)
		}
	}
}

func TestListenerIsForThisMachineUnlessThereIsAToken(t *testing.T) {
	t.Setenv(TokenVariable, "")
	for _, address := range []string{":0", "0.0.0.0:0", "[::]:0", "192.0.2.1:0"} {
		if l, err := Listen(address, Options{}); err == nil || !strings.Contains(err.Error(), "needs a token") {
			t.Errorf("%s: %v", address, err)
			if err == nil {
				l.Close()
			}
		}
	}
	l, err := Listen("0.0.0.0:0", Options{Token: testToken})
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if _, err := Listen("nowhere", Options{}); err == nil || !strings.Contains(err.Error(), "127.0.0.1:9090") {
		t.Errorf("an address that is none: %v", err)
	}
}

func TestListenerClosesWithConnectionsOpen(t *testing.T) {
	listener, err := Listen("127.0.0.1:0", Options{})
	if err != nil {
		t.Fatal(err)
	}
	connection, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	if _, err := connection.Write([]byte("GET /harena HTTP/1.1\r\n")); err != nil {
		t.Fatal(err)
	}
	if err := listener.Close(); err != nil {
		t.Error(err)
	}
	if again, err := net.Dial("tcp", listener.Addr().String()); err == nil {
		again.Close()
		t.Error("it still listens")
	}
}
