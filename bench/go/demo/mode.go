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
	"github.com/harena-project/harena/go/scope"
)

// MessageBytesMax is how large a request may be on the wire.
const MessageBytesMax = 64 << 20

// Methods returns what Harena counted of each method; nil where no call goes through Harena.
type Methods func() []scope.MethodStats

// Modes are the names that NewServer knows: heap first, the baseline of every comparison.
func Modes() []string { return []string{"heap", "vtproto", "codec"} }

// NewServer returns a gRPC server with the service in a mode:
//
//	heap     grpc-go by itself; no call goes through Harena
//	vtproto  grpc-go with vtprotobuf's generated codec, without its pools
//	codec    the service registered with Harena
//
// The options, but for their Mode, are for mode codec; the other modes have no limits and count nothing.
func NewServer(mode string, impl benchpb.DemoServiceServer, o scope.ServiceOptions) (*grpc.Server, Methods, error) {
	desc := benchpb.DemoService_ServiceDesc
	desc.ServiceName = workloads.ServiceName // gen/vt's own name is another, see there
	options := []grpc.ServerOption{grpc.MaxRecvMsgSize(MessageBytesMax), grpc.MaxSendMsgSize(MessageBytesMax)}
	switch mode {
	case "heap":
		options = append(options, grpc.ForceServerCodecV2(grpccodec.Own()))
		server := grpc.NewServer(options...)
		server.RegisterService(&desc, impl)
		return server, nil, nil
	case "vtproto":
		server := grpc.NewServer(append(options, grpc.ForceServerCodecV2(vtcodec.Codec{}))...)
		server.RegisterService(&desc, impl)
		return server, nil, nil
	case "codec":
		server := grpc.NewServer(options...)
		service := grpcgo.Register(server, &desc, impl, o)
		return server, func() []scope.MethodStats {
			var all []scope.MethodStats
			for _, m := range service.Methods() {
				all = append(all, m.MethodStats)
			}
			return all
		}, nil
	}
	return nil, nil, fmt.Errorf("no mode named %q; there are %s", mode, strings.Join(Modes(), ", "))
}
