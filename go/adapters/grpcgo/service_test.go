package grpcgo

import (
	"context"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/stats"
)

type silent struct{}

func (silent) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context   { return ctx }
func (silent) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }
func (silent) HandleRPC(context.Context, stats.RPCStats)                         {}
func (silent) HandleConn(context.Context, stats.ConnStats)                       {}

type registrar struct{ grpc.ServiceRegistrar }

// When gRPC renames its field this fails; until it is mended, scopes end a little later than need be.
func TestStatsHandlersAreFound(t *testing.T) {
	if mayWatchReplies(grpc.NewServer()) {
		t.Error("a server without a stats handler seems to have one")
	}
	if !mayWatchReplies(grpc.NewServer(grpc.StatsHandler(silent{}))) ||
		!mayWatchReplies(grpc.NewServer(grpc.StatsHandler(silent{}), grpc.StatsHandler(silent{}))) {
		t.Error("a stats handler is not found")
	}
	if !mayWatchReplies(registrar{grpc.NewServer()}) || !mayWatchReplies(nil) {
		t.Error("of other registrars nothing is known")
	}
}
