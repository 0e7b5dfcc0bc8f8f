package demo_test

import (
	"bytes"
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"

	"github.com/harena-project/harena/bench/go/demo"
	"github.com/harena-project/harena/bench/go/gen/vt/benchpb"
	"github.com/harena-project/harena/bench/go/rawcodec"
	"github.com/harena-project/harena/bench/go/workloads"
	"github.com/harena-project/harena/go/scope"
)

// serve starts a server on loopback that ends with the test.
func serve(t *testing.T, mode string, impl benchpb.DemoServiceServer, bytesMax int64) *grpc.ClientConn {
	t.Helper()
	server, _, err := demo.NewServer(mode, impl, scope.ServiceOptions{RequestBytesMax: bytesMax})
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

func call(t *testing.T, client *grpc.ClientConn, w *workloads.Workload, request []byte) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	var reply []byte
	err := client.Invoke(ctx, w.MethodPath(), &request, &reply, grpc.ForceCodecV2(rawcodec.Codec{}),
		grpc.MaxCallRecvMsgSize(demo.MessageBytesMax), grpc.MaxCallSendMsgSize(demo.MessageBytesMax))
	if err != nil {
		t.Fatalf("%s: %v", w.Name, err)
	}
	return reply
}

// replyBytes decodes a reply by protobuf itself and encodes it in the order that can be compared.
func replyBytes(t *testing.T, w *workloads.Workload, request, reply []byte) (got, want []byte) {
	t.Helper()
	in := workloads.NewRequest(w.Method)
	if err := proto.Unmarshal(request, in); err != nil {
		t.Fatal(err)
	}
	expected := workloads.Handle(nil, in)
	decoded := expected.ProtoReflect().New().Interface()
	if err := proto.Unmarshal(reply, decoded); err != nil {
		t.Fatalf("%s: the reply does not decode: %v", w.Name, err)
	}
	got, err := workloads.DeterministicBytes(decoded)
	if err != nil {
		t.Fatal(err)
	}
	if want, err = workloads.DeterministicBytes(expected); err != nil {
		t.Fatal(err)
	}
	return got, want
}

func TestEveryModeGivesTheSameAnswers(t *testing.T) {
	testdata, err := workloads.FindTestdata()
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range demo.Modes() {
		t.Run(mode, func(t *testing.T) {
			client := serve(t, mode, demo.Service{}, 0)
			for _, name := range []string{"ranking_8k", "ranking_200k_one", "trips", "vehicles", "tile"} {
				w, err := workloads.Load(name, testdata)
				if err != nil {
					t.Fatal(err)
				}
				for range 2 { // the second round is on memory that was used before
					for _, request := range w.Requests {
						got, want := replyBytes(t, w, request, call(t, client, w, request))
						if !bytes.Equal(got, want) {
							t.Fatalf("%s: %d bytes that differ from the expected %d", name, len(got), len(want))
						}
					}
				}
			}
		})
	}
}

func TestABombIsRefusedAndTheNextCallServed(t *testing.T) {
	next, err := workloads.Load("ranking_8k_one", "")
	if err != nil {
		t.Fatal(err)
	}
	client := serve(t, "codec", demo.Service{}, 8<<20)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	report := demo.SendBomb(ctx, client, 400_000, next)
	if report.Status != "ResourceExhausted" || !strings.Contains(report.Message, "RequestBytesMax") {
		t.Errorf("the bomb: %s, %q", report.Status, report.Message)
	}
	if report.NextStatus != "OK" || report.NextReplySize < 5000 {
		t.Errorf("the next call: %s, %d bytes", report.NextStatus, report.NextReplySize)
	}
}

func TestUnknownMode(t *testing.T) {
	_, _, err := demo.NewServer("magic", demo.Service{}, scope.ServiceOptions{})
	if err == nil || !strings.Contains(err.Error(), "there are heap, vtproto, codec") {
		t.Errorf("NewServer of an unknown mode: %v", err)
	}
}
