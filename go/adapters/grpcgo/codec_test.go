package grpcgo_test

import (
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"

	"github.com/harena-project/harena/go/adapters/grpcgo"
	"github.com/harena-project/harena/go/adapters/grpcgo/internal/testpb"
	"github.com/harena-project/harena/go/pb/echotest"
)

func TestCodecIsRegistered(t *testing.T) {
	if encoding.GetCodecV2("proto") != grpcgo.Codec() {
		t.Error("the codec is not the one that gRPC uses")
	}
	if grpcgo.Codec().Name() != "proto" {
		t.Errorf("its name is %q", grpcgo.Codec().Name())
	}
}

func TestOtherServicesOfTheServer(t *testing.T) {
	server := grpc.NewServer()
	healthpb.RegisterHealthServer(server, health.NewServer())
	grpcgo.Register(server, &testpb.Echo_ServiceDesc, &echo{}, grpcgo.Options{})
	conn := serve(t, server)
	reply, err := healthpb.NewHealthClient(conn).Check(testContext(t), &healthpb.HealthCheckRequest{})
	if err != nil || reply.Status != healthpb.HealthCheckResponse_SERVING {
		t.Errorf("%v, %v", reply, err)
	}
}

func TestCodecOfMessagesThatNobodyWaitsFor(t *testing.T) {
	c := grpcgo.Codec()
	want := echotest.New("nobody")
	data, err := c.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	got := &testpb.Note{}
	if err := c.Unmarshal(data, got); err != nil || !proto.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	for _, wrong := range []any{nil, 7, "text", struct{}{}, &struct{}{}} {
		if _, err := c.Marshal(wrong); err == nil {
			t.Errorf("Marshal(%T) succeeds", wrong)
		}
		if err := c.Unmarshal(mem.BufferSlice{}, wrong); err == nil {
			t.Errorf("Unmarshal(%T) succeeds", wrong)
		}
	}
}
