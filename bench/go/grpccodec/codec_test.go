package grpccodec_test

import (
	"fmt"
	"testing"

	"google.golang.org/grpc/encoding"

	"github.com/harena-project/harena/bench/go/grpccodec"
	"github.com/harena-project/harena/go/adapters/grpcgo"
)

func TestItIsGRPCsOwn(t *testing.T) {
	if encoding.GetCodecV2("proto") != grpcgo.Codec() {
		t.Fatal("the adapter's codec is not registered: this test shows nothing")
	}
	if got := fmt.Sprintf("%T", grpccodec.Own()); got != "*proto.codecV2" {
		t.Errorf("Own is a %s", got)
	}
}
