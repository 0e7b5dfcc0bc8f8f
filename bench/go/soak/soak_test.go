package soak_test

import (
	"os"
	"testing"

	"github.com/harena-project/harena/bench/go/connectdemo"
	"github.com/harena-project/harena/bench/go/demo"
	"github.com/harena-project/harena/bench/go/serving"
	"github.com/harena-project/harena/bench/go/servingtest"
	"github.com/harena-project/harena/bench/go/soak"
	"github.com/harena-project/harena/bench/go/trpcdemo"
	"github.com/harena-project/harena/bench/go/workloads"
	"github.com/harena-project/harena/go/scope"
)

func TestMain(m *testing.M) {
	trpcdemo.Quiet()
	os.Exit(m.Run())
}

// limits are those of bench/soak, but for a denser quarantine.
func limits() scope.ServiceOptions {
	return scope.ServiceOptions{RequestBytesMax: 8 << 20, ProcessBytesMax: 256 << 20, DecodedRatioMax: 30,
		DepthMax: 32, QuarantineOneIn: 10}
}

// server starts one of any framework that ends with the test, and returns its port and counts.
func server[S serving.Server](t *testing.T, s S, methods demo.Methods, err error) (int, demo.Methods) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return servingtest.Start(t, s, s.Stop), methods
}

// A few seconds of all kinds of calls per framework: each outcome is owed.
func TestErrorsOnlyWhereOwed(t *testing.T) {
	testdata, err := workloads.FindTestdata()
	if err != nil {
		t.Fatal(err)
	}
	for name, start := range map[string]func() (int, demo.Methods){
		"grpc": func() (int, demo.Methods) {
			s, methods, err := demo.NewServer("codec", demo.Service{}, limits())
			return server(t, s, methods, err)
		},
		"connect": func() (int, demo.Methods) {
			s, methods, err := connectdemo.NewServer("codec", demo.Service{}, limits())
			return server(t, s, methods, err)
		},
		"trpc": func() (int, demo.Methods) {
			s, methods, err := trpcdemo.NewServer("codec", demo.Service{}, limits())
			return server(t, s, methods, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			port, methods := start()
			protocol := "grpc"
			if name == "trpc" {
				protocol = name
			}
			s, err := soak.New(soak.Frameworks()[protocol], port, testdata, 1)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			r := s.Run(soak.Order{Seconds: 3, QPS: 40, Rude: 60})
			if r.Sent != 120 || r.Errors != 0 || r.Unowed != 0 {
				t.Errorf("%d honest calls with %d errors, %d unowed outcomes: %q", r.Sent, r.Errors, r.Unowed, r.Examples)
			}
			if len(r.LatenciesUs) != r.Sent {
				t.Errorf("%d latencies of %d calls", len(r.LatenciesUs), r.Sent)
			}
			for kind, outcome := range map[string]soak.Outcome{
				"bomb": soak.Exhausted, "truncated": soak.Malformed, "late": soak.Late, "cut": soak.Broken,
			} {
				if r.Rude[kind][outcome] == 0 {
					t.Errorf("no %s was %s: %v", kind, outcome, r.Rude)
				}
			}
			var sampled uint64
			for _, m := range methods() {
				sampled += m.Arenas.Sampled
			}
			if sampled == 0 {
				t.Error("nothing was sampled")
			}
		})
	}
}

func TestAServerWithoutLimitsIsFoundOut(t *testing.T) {
	s, methods, err := demo.NewServer("codec", demo.Service{}, scope.ServiceOptions{})
	port, _ := server(t, s, methods, err)
	testdata, err := workloads.FindTestdata()
	if err != nil {
		t.Fatal(err)
	}
	client, err := soak.New(soak.Frameworks()["grpc"], port, testdata, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if r := client.Run(soak.Order{Seconds: 1, QPS: 10, Rude: 60}); r.Unowed == 0 || len(r.Examples) == 0 {
		t.Errorf("bombs are served, and that passes: %+v", r.Rude)
	}
}
