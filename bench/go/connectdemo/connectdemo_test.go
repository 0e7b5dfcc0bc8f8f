package connectdemo_test

import (
	"strings"
	"testing"
	"time"

	"github.com/harena-project/harena/bench/go/connectdemo"
	"github.com/harena-project/harena/bench/go/demo"
	"github.com/harena-project/harena/bench/go/load"
	"github.com/harena-project/harena/bench/go/servingtest"
	"github.com/harena-project/harena/go/scope"
)

// loadOf starts a server that ends with the test, and compares its answers with those computed here:
// load.New does.
func loadOf(t *testing.T, mode, workload string, bytesMax int64) (*load.Load, demo.Methods, error) {
	t.Helper()
	server, methods, err := connectdemo.NewServer(mode, demo.Service{}, scope.ServiceOptions{RequestBytesMax: bytesMax})
	if err != nil {
		t.Fatal(err)
	}
	caller, err := load.DialGRPC(servingtest.Start(t, server, server.Stop))
	if err != nil {
		t.Fatal(err)
	}
	l, err := load.New(caller, servingtest.Workload(t, workload))
	return l, methods, err
}

func TestEveryModeAnswersEveryWorkload(t *testing.T) {
	for _, mode := range connectdemo.Modes() {
		for _, workload := range []string{"ranking_8k", "ranking_200k", "vehicles", "tile"} {
			l, methods, err := loadOf(t, mode, workload, 0)
			if err != nil {
				t.Errorf("%s, %s: %v", mode, workload, err)
				continue
			}
			if r := l.Closed(10 * time.Millisecond); r.Requests == 0 || r.Errors != 0 {
				t.Errorf("%s, %s: %+v", mode, workload, r)
			}
			if mode == "codec" && methods()[0].ScopesStarted+methods()[1].ScopesStarted+methods()[2].ScopesStarted == 0 {
				t.Error("no call had a scope")
			}
		}
	}
}

func TestTheLimitOfCodecIsHeld(t *testing.T) {
	if _, _, err := loadOf(t, "codec", "ranking_8k", 1<<10); err == nil || !strings.Contains(err.Error(), "RequestBytesMax") {
		t.Errorf("a request of 8 KB within 1 KiB: %v", err)
	}
}

func TestAnUnknownModeIsRefused(t *testing.T) {
	if _, _, err := connectdemo.NewServer("magic", demo.Service{}, scope.ServiceOptions{}); err == nil || !strings.Contains(err.Error(), "there are heap, codec") {
		t.Errorf("NewServer of an unknown mode: %v", err)
	}
}
