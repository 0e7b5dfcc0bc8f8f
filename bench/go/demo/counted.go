package demo

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"github.com/harena-project/harena/bench/go/gen/vt/benchpb"
	"github.com/harena-project/harena/bench/go/gen/vt/gtfspb"
	"github.com/harena-project/harena/bench/go/gen/vt/tilepb"
	"github.com/harena-project/harena/bench/go/process"
)

// CountFileVariable is the environment variable that names the counter file, as for the C++ server,
// whose allocations a preloaded library counts.
const CountFileVariable = "HARENA_ALLOC_COUNT_FILE"

// The file's layout is that of bench/tools/alloc_count.h; the first of its slots is enough here.
const (
	countSlots     = 64
	countSlotBytes = 64
)

type countSlot struct{ allocations, frees, bytes atomic.Uint64 }

// Counted is a service that publishes the process's heap counts after each call: from one call to the
// next they grow by exactly what a request costs. It is for runs that count, not for those that take
// time.
//
// Thread rule: any goroutine.
type Counted struct {
	benchpb.UnimplementedDemoServiceServer
	inner  benchpb.DemoServiceServer
	slot   *countSlot
	mutex  sync.Mutex
	reader *process.Reader
}

// NewCounted makes the file and maps it for as long as the process lives.
func NewCounted(inner benchpb.DemoServiceServer, path string) (*Counted, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("the counter file: %w", err)
	}
	defer file.Close()
	if err := file.Truncate(countSlots * countSlotBytes); err != nil {
		return nil, fmt.Errorf("the counter file: %w", err)
	}
	mapped, err := syscall.Mmap(int(file.Fd()), 0, countSlots*countSlotBytes,
		syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("mapping the counter file: %w", err)
	}
	c := &Counted{inner: inner, slot: (*countSlot)(unsafe.Pointer(&mapped[0])), reader: process.NewReader()}
	c.publish()
	return c, nil
}

func (c *Counted) publish() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	allocated, freed, bytes := c.reader.Heap()
	c.slot.allocations.Store(allocated)
	c.slot.frees.Store(freed)
	c.slot.bytes.Store(bytes)
}

// Rank implements DemoService.
func (c *Counted) Rank(ctx context.Context, request *benchpb.RankRequest) (*benchpb.RankResponse, error) {
	defer c.publish()
	return c.inner.Rank(ctx, request)
}

// BoardFeed implements DemoService.
func (c *Counted) BoardFeed(ctx context.Context, request *gtfspb.FeedMessage) (*benchpb.FeedBoard, error) {
	defer c.publish()
	return c.inner.BoardFeed(ctx, request)
}

// RestyleTile implements DemoService.
func (c *Counted) RestyleTile(ctx context.Context, request *tilepb.Tile) (*tilepb.Tile, error) {
	defer c.publish()
	return c.inner.RestyleTile(ctx, request)
}
