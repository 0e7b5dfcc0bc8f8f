// Package demo is the demo's Go server, as parts that tests can use: the service, and what registers
// it in each mode.
package demo

import (
	"context"

	"github.com/harena-project/harena/bench/go/gen/vt/benchpb"
	"github.com/harena-project/harena/bench/go/gen/vt/gtfspb"
	"github.com/harena-project/harena/bench/go/gen/vt/tilepb"
	"github.com/harena-project/harena/bench/go/workloads"
	"github.com/harena-project/harena/go/arena"
	"github.com/harena-project/harena/go/scope"
)

// Service is the demo's service. It makes its responses on the request's scope where there is one, and
// on the heap otherwise.
//
// Thread rule: any goroutine; it has no state.
type Service struct {
	benchpb.UnimplementedDemoServiceServer
}

// Rank implements DemoService.
func (Service) Rank(ctx context.Context, request *benchpb.RankRequest) (*benchpb.RankResponse, error) {
	return workloads.Rank(arenaOf(ctx), request), nil
}

// BoardFeed implements DemoService.
func (Service) BoardFeed(ctx context.Context, request *gtfspb.FeedMessage) (*benchpb.FeedBoard, error) {
	return workloads.BoardFeed(arenaOf(ctx), request), nil
}

// RestyleTile implements DemoService.
func (Service) RestyleTile(ctx context.Context, request *tilepb.Tile) (*tilepb.Tile, error) {
	return workloads.RestyleTile(arenaOf(ctx), request), nil
}

func arenaOf(ctx context.Context) *arena.Arena {
	if s := scope.From(ctx); s != nil {
		return s.Arena()
	}
	return nil
}
