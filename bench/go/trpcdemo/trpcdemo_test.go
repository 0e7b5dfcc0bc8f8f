package trpcdemo_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/harena-project/harena/bench/go/demo"
	"github.com/harena-project/harena/bench/go/load"
	"github.com/harena-project/harena/bench/go/servingtest"
	"github.com/harena-project/harena/bench/go/trpcdemo"
	"github.com/harena-project/harena/go/scope"
)

func TestMain(m *testing.M) {
	trpcdemo.Quiet()
	os.Exit(m.Run())
}

// serve starts a server on loopback that ends with the test, and returns its port.
func serve(t *testing.T, mode string, bytesMax int64) int {
	t.Helper()
	server, _, err := trpcdemo.NewServer(mode, demo.Service{}, scope.ServiceOptions{RequestBytesMax: bytesMax})
	if err != nil {
		t.Fatal(err)
	}
	return servingtest.Start(t, server, server.GracefulStop)
}

// loadOf compares the server's answers with those computed here: load.New does.
func loadOf(t *testing.T, port int, workload string) (*load.Load, error) {
	t.Helper()
	caller, err := trpcdemo.Dial(port)
	if err != nil {
		t.Fatal(err)
	}
	return load.New(caller, servingtest.Workload(t, workload))
}

func TestEveryModeAnswersEveryWorkload(t *testing.T) {
	for _, mode := range trpcdemo.Modes() {
		port := serve(t, mode, 0)
		for _, workload := range []string{"ranking_8k", "ranking_200k", "vehicles", "tile"} {
			l, err := loadOf(t, port, workload)
			if err != nil {
				t.Errorf("%s, %s: %v", mode, workload, err)
				continue
			}
			if r := l.Closed(10 * time.Millisecond); r.Requests == 0 || r.Errors != 0 {
				t.Errorf("%s, %s: %+v", mode, workload, r)
			}
		}
	}
}

func TestTheLimitOfCodecIsHeld(t *testing.T) {
	if _, err := loadOf(t, serve(t, "codec", 1<<10), "ranking_8k"); err == nil || !strings.Contains(err.Error(), "RequestBytesMax") {
		t.Errorf("a request of 8 KB within 1 KiB: %v", err)
	}
}

func TestAnUnknownModeIsRefused(t *testing.T) {
	if _, _, err := trpcdemo.NewServer("magic", demo.Service{}, scope.ServiceOptions{}); err == nil || !strings.Contains(err.Error(), "there are heap, codec") {
		t.Errorf("NewServer of an unknown mode: %v", err)
	}
}
