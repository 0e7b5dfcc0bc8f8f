package codec

import (
	"unsafe"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/harena-project/harena/bench/go/cells"
	"github.com/harena-project/harena/bench/go/gen/vt/benchpb"
	"github.com/harena-project/harena/bench/go/gen/vt/gtfspb"
	"github.com/harena-project/harena/bench/go/gen/vt/tilepb"
	poolbench "github.com/harena-project/harena/bench/go/gen/vtpool/benchpb"
	poolgtfs "github.com/harena-project/harena/bench/go/gen/vtpool/gtfspb"
	pooltile "github.com/harena-project/harena/bench/go/gen/vtpool/tilepb"
	"github.com/harena-project/harena/bench/go/workloads"
	"github.com/harena-project/harena/go/arena"
)

// message is a protoc-gen-go message with vtprotobuf's methods.
type message interface {
	proto.Message
	SizeVT() int
	MarshalVT() ([]byte, error)
	MarshalToSizedBufferVT([]byte) (int, error)
	UnmarshalVT([]byte) error
	UnmarshalVTUnsafe([]byte) error
}

// pooledMessage is one with vtprotobuf's pools.
type pooledMessage interface {
	message
	ReturnToVTPool()
}

// payload is what one group decodes.
type payload struct {
	workload string
	testdata string
	onHeap   func() message
	onArena  func(*arena.Arena) message
	fromPool func() pooledMessage
	// plain is the pooled message as the plain type that read knows. The two have the
	// same layout, which a test of the workloads holds.
	plain func(pooledMessage) message
	read  func(proto.Message) uint64
	// wanted is what protobuf makes of a request, for those who compare.
	wanted func(request int) (wanted, error)
}

// wanted is a message as protobuf decodes it, and what reading it gives.
type wanted struct {
	message message
	sum     uint64
}

func payloads(testdata string) []payload {
	rank := payload{
		testdata: testdata,
		onHeap:   func() message { return new(benchpb.RankRequest) },
		onArena:  func(a *arena.Arena) message { return arena.NewOf[benchpb.RankRequest](a) },
		fromPool: func() pooledMessage { return poolbench.RankRequestFromVTPool() },
		plain: func(m pooledMessage) message {
			return (*benchpb.RankRequest)(unsafe.Pointer(m.(*poolbench.RankRequest)))
		},
		read: func(m proto.Message) uint64 { return readRank(m.(*benchpb.RankRequest)) },
	}
	feed := payload{
		testdata: testdata,
		onHeap:   func() message { return new(gtfspb.FeedMessage) },
		onArena:  func(a *arena.Arena) message { return arena.NewOf[gtfspb.FeedMessage](a) },
		fromPool: func() pooledMessage { return poolgtfs.FeedMessageFromVTPool() },
		plain: func(m pooledMessage) message {
			return (*gtfspb.FeedMessage)(unsafe.Pointer(m.(*poolgtfs.FeedMessage)))
		},
		read: func(m proto.Message) uint64 { return readFeed(m.(*gtfspb.FeedMessage)) },
	}
	tile := payload{
		testdata: testdata,
		onHeap:   func() message { return new(tilepb.Tile) },
		onArena:  func(a *arena.Arena) message { return arena.NewOf[tilepb.Tile](a) },
		fromPool: func() pooledMessage { return pooltile.TileFromVTPool() },
		plain:    func(m pooledMessage) message { return (*tilepb.Tile)(unsafe.Pointer(m.(*pooltile.Tile))) },
		read:     func(m proto.Message) uint64 { return readTile(m.(*tilepb.Tile)) },
	}
	return []payload{rank.of("ranking_8k"), rank.of("ranking_200k"), feed.of("trips"), feed.of("vehicles"), tile.of("tile")}
}

func (p payload) of(workload string) payload {
	p.workload = workload
	known := map[int]wanted{} // for one goroutine: only checks use it
	p.wanted = func(request int) (wanted, error) {
		if w, ok := known[request]; ok {
			return w, nil
		}
		requests, err := p.load()
		if err != nil {
			return wanted{}, err
		}
		m := p.onHeap()
		if err := proto.Unmarshal(requests.requests[request], m); err != nil {
			return wanted{}, err
		}
		known[request] = wanted{m, readReflected(m.ProtoReflect())}
		return known[request], nil
	}
	return p
}

func (p payload) descriptor() protoreflect.MessageDescriptor {
	return p.onHeap().ProtoReflect().Descriptor()
}

func (p payload) cells() []cells.Cell {
	return append(append(p.decodeCells("unmarshal", false), p.decodeCells("read", true)...), p.encodeCells()...)
}

// group is such as "codec/unmarshal/trips".
func (p payload) group(work string) string { return "codec/" + work + "/" + p.workload }

func (p payload) missing(work, row, why string) cells.Cell {
	return cells.Cell{Group: p.group(work), Row: row, Unit: "message", Units: 1, Missing: why}
}

// turns goes through the requests in turn.
type turns struct {
	requests [][]byte
	next     int
}

func (t *turns) take() []byte {
	request := t.requests[t.next]
	if t.next++; t.next == len(t.requests) {
		t.next = 0
	}
	return request
}

func (p payload) load() (*turns, error) {
	w, err := workloads.Load(p.workload, p.testdata)
	if err != nil {
		return nil, err
	}
	return &turns{requests: w.Requests}, nil
}
