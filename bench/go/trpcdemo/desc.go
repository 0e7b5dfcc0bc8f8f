// Package trpcdemo is the demo's service on trpc-go, and a client that sends and receives bytes.
package trpcdemo

import (
	"context"

	"trpc.group/trpc-go/trpc-go/server"

	"github.com/harena-project/harena/bench/go/gen/vt/benchpb"
	"github.com/harena-project/harena/bench/go/workloads"
)

// desc returns the service in the shape that trpc-cmdline's generated code gives it.
func desc() *server.ServiceDesc {
	return &server.ServiceDesc{
		ServiceName: workloads.ServiceName,
		HandlerType: (*benchpb.DemoServiceServer)(nil),
		Methods: []server.Method{
			method("Rank", benchpb.DemoServiceServer.Rank),
			method("BoardFeed", benchpb.DemoServiceServer.BoardFeed),
			method("RestyleTile", benchpb.DemoServiceServer.RestyleTile),
		},
	}
}

// method makes a generated handler of one method.
func method[In, Out any](name string, call func(benchpb.DemoServiceServer, context.Context, *In) (*Out, error)) server.Method {
	return server.Method{
		Name: "/" + workloads.ServiceName + "/" + name,
		Func: func(service any, ctx context.Context, decode server.FilterFunc) (any, error) {
			request := new(In)
			filters, err := decode(request)
			if err != nil {
				return nil, err
			}
			return filters.Filter(ctx, request, func(ctx context.Context, request any) (any, error) {
				return call(service.(benchpb.DemoServiceServer), ctx, request.(*In))
			})
		},
	}
}
