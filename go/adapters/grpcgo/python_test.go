package grpcgo_test

import (
	"net"
	"os/exec"
	"strings"
	"testing"

	_ "google.golang.org/grpc/encoding/gzip" // the client compresses

	"google.golang.org/grpc"

	"github.com/harena-project/harena/go/adapters/grpcgo"
	"github.com/harena-project/harena/go/adapters/grpcgo/internal/testpb"
)

// python returns an interpreter that has grpcio.
func python(t *testing.T) string {
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(name, "-c", "import grpc").Run() == nil {
			return name
		}
	}
	t.Skip("no python3 with grpcio; on Debian: apt-get install python3-grpcio")
	return ""
}

func TestClientOfAnotherStack(t *testing.T) {
	interpreter := python(t)
	server := grpc.NewServer()
	service := grpcgo.Register(server, &testpb.Echo_ServiceDesc, &echo{},
		grpcgo.Options{RequestBytesMax: 300_000, StreamScope: grpcgo.PerMessage})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	defer func() {
		server.GracefulStop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		for _, m := range service.Methods() {
			if m.ScopesAlive() != 0 {
				t.Errorf("scopes stay alive: %+v", m)
			}
		}
	}()
	if err := service.SetRequestBytesMax(sayName, 200_000); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(testContext(t), interpreter, "testdata/client.py", listener.Addr().String()).CombinedOutput()
	text := string(out)
	if err != nil || !strings.HasSuffix(text, "done\n") {
		t.Errorf("%v\n%s", err, text)
	}
	if want := "harena/grpcgo: " + sayName + ": RequestBytesMax is 200000 bytes, 150004 of them for the wire"; !strings.Contains(text, want) {
		t.Errorf("the client was not told %q:\n%s", want, text)
	}
}
