package live

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
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

func TestConnectionsAreBounded(t *testing.T) {
	listener, err := Listen("127.0.0.1:0", Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	var held []net.Conn
	for range connectionsMax {
		connection, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, connection)
	}
	beyond, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer beyond.Close()
	beyond.SetReadDeadline(time.Now().Add(5 * time.Second))
	if n, err := beyond.Read(make([]byte, 1)); n != 0 || err == nil || strings.Contains(err.Error(), "timeout") {
		t.Errorf("the connection beyond the bound: %d, %v", n, err)
	}
	for _, connection := range held {
		connection.Close()
	}
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if response, err := http.Get("http://" + listener.Addr().String() + "/harena"); err == nil {
			response.Body.Close()
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("nobody is served after the others have gone")
		}
	}
}
