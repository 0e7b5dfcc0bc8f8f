package demo

import (
	"fmt"
	"strings"

	"google.golang.org/grpc"

	"github.com/harena-project/harena/bench/go/gen/vt/benchpb"
	"github.com/harena-project/harena/bench/go/grpccodec"
	"github.com/harena-project/harena/bench/go/vtcodec"
	"github.com/harena-project/harena/bench/go/workloads"
	"github.com/harena-project/harena/go/adapters/grpcgo"
)

// MessageBytesMax is how large a request may be on the wire.
const MessageBytesMax = 64 << 20

// Modes are the names that NewServer knows: heap first, the baseline of every comparison.
func Modes() []string { return []string{"heap", "vtproto", "codec"} }

// NewServer returns a gRPC server with the service in a mode:
//
//	heap     grpc-go by itself; no call goes through Harena
//	vtproto  grpc-go with vtprotobuf's generated codec, without its pools
//	codec    the service registered with Harena
//
// requestBytesMax bounds each request in mode codec; zero means no bound. The other modes have no such
// bound.
func NewServer(mode string, impl benchpb.DemoServiceServer, requestBytesMax int64) (*grpc.Server, error) {
	desc := benchpb.DemoService_ServiceDesc
	desc.ServiceName = workloads.ServiceName // gen/vt's own name is another, see there
	options := []grpc.ServerOption{grpc.MaxRecvMsgSize(MessageBytesMax), grpc.MaxSendMsgSize(MessageBytesMax)}
	switch mode {
	case "heap":
		options = append(options, grpc.ForceServerCodecV2(grpccodec.Own()))
		server := grpc.NewServer(options...)
		server.RegisterService(&desc, impl)
		return server, nil
	case "vtproto":
		server := grpc.NewServer(append(options, grpc.ForceServerCodecV2(vtcodec.Codec{}))...)
		server.RegisterService(&desc, impl)
		return server, nil
	case "codec":
		server := grpc.NewServer(options...)
		grpcgo.Register(server, &desc, impl, grpcgo.Options{RequestBytesMax: requestBytesMax})
		return server, nil
	}
	return nil, fmt.Errorf("no mode named %q; there are %s", mode, strings.Join(Modes(), ", "))
}
