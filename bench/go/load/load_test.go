package load_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/harena-project/harena/bench/go/demo"
	"github.com/harena-project/harena/bench/go/gen/vt/benchpb"
	"github.com/harena-project/harena/bench/go/load"
	"github.com/harena-project/harena/bench/go/workloads"
	"github.com/harena-project/harena/go/scope"
)

func connect(t *testing.T, impl benchpb.DemoServiceServer) *grpc.ClientConn {
	t.Helper()
	server, _, err := demo.NewServer("codec", impl, scope.ServiceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	client, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		client.Close()
		server.Stop()
		<-served
	})
	return client
}

func ranking(t *testing.T) *workloads.Workload {
	t.Helper()
	w, err := workloads.Load("ranking_8k", "")
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestOpenLoopSendsEveryRequestOfItsSchedule(t *testing.T) {
	l, err := load.New(load.GRPC(connect(t, demo.Service{})), ranking(t))
	if err != nil {
		t.Fatal(err)
	}
	r := l.Open(200, 250*time.Millisecond)
	if r.Requests != 50 || r.Errors != 0 || r.Seconds < 0.245 {
		t.Errorf("%+v", r)
	}
	if r.P50Us <= 0 || r.P99Us < r.P50Us {
		t.Errorf("latencies: %+v", r)
	}
}

func TestClosedLoop(t *testing.T) {
	l, err := load.New(load.GRPC(connect(t, demo.Service{})), ranking(t))
	if err != nil {
		t.Fatal(err)
	}
	if r := l.Closed(50 * time.Millisecond); r.Requests == 0 || r.Errors != 0 {
		t.Errorf("%+v", r)
	}
}

// worse answers with nothing, at first or later.
type worse struct {
	demo.Service
	after int
}

func (w *worse) Rank(ctx context.Context, request *benchpb.RankRequest) (*benchpb.RankResponse, error) {
	if w.after--; w.after < 0 {
		return &benchpb.RankResponse{}, nil
	}
	return w.Service.Rank(ctx, request)
}

func TestWrongAnswersAreFound(t *testing.T) {
	w := ranking(t)
	if _, err := load.New(load.GRPC(connect(t, &worse{})), w); err == nil || !strings.Contains(err.Error(), "not the answer") {
		t.Errorf("New on a server with wrong answers: %v", err)
	}
	l, err := load.New(load.GRPC(connect(t, &worse{after: len(w.Requests)})), w)
	if err != nil {
		t.Fatal(err)
	}
	if r := l.Closed(time.Millisecond); r.Errors == 0 || !strings.Contains(r.FirstError, "a reply of 0 bytes") {
		t.Errorf("%+v", r)
	}
}
