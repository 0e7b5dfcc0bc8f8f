package soak

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/harena-project/harena/bench/go/hostile"
	"github.com/harena-project/harena/bench/go/load"
	"github.com/harena-project/harena/bench/go/workloads"
)

// Kinds of rude calls.
const (
	flood     = "flood"     // valid wire, made to be dear
	bomb      = "bomb"      // more messages than the limits of the soak's servers admit
	deep      = "deep"      // nests more than any honest message
	truncated = "truncated" // an honest request, its end missing
	cancelled = "cancelled" // an honest call, given up
	late      = "late"      // an honest call with too short a deadline
	cut       = "cut"       // an honest call whose connection ends
)

const (
	rudeTimeout = time.Minute // as honest calls
	floodBytes  = 40_000      // at most, about
	bombBytes   = 200_000
	deepLevels  = 64
	pauseMax    = 3 * time.Millisecond // before an aborted call is aborted
)

// rudeCall is one of them, ready to be sent, and the outcomes that it may have.
type rudeCall struct {
	kind    string
	method  string // path
	request []byte
	pause   time.Duration
	owed    []Outcome
}

func (c *rudeCall) mayBe(o Outcome) bool { return slices.Contains(c.owed, o) }

// rudeness makes calls. The dice decide everything.
type rudeness struct {
	honest  []*workloads.Workload
	tooDeep []Outcome
	dice    *rand.Rand
}

// weights say how often each kind is made.
var weights = []struct {
	kind  string
	share int
}{{flood, 8}, {bomb, 2}, {deep, 2}, {truncated, 2}, {cancelled, 3}, {late, 3}, {cut, 3}}

func (r *rudeness) kind() string {
	total := 0
	for _, w := range weights {
		total += w.share
	}
	at := r.dice.IntN(total)
	for _, w := range weights {
		if at -= w.share; at < 0 {
			return w.kind
		}
	}
	panic("bench/soak: the weights do not add up")
}

func (r *rudeness) next() *rudeCall { return r.call(r.kind()) }

func (r *rudeness) call(kind string) *rudeCall {
	w := r.honest[r.dice.IntN(len(r.honest))]
	c := &rudeCall{kind: kind, method: w.MethodPath(), request: w.Requests[r.dice.IntN(len(w.Requests))],
		pause: time.Duration(r.dice.Int64N(int64(pauseMax)))}
	switch kind {
	case flood:
		all := hostile.All()
		md := workloads.NewRequest(w.Method).ProtoReflect().Descriptor()
		c.request = hostile.Wire(md, all[r.dice.IntN(len(all))], 100+r.dice.IntN(floodBytes), r.dice)
		c.owed = append([]Outcome{OK, Exhausted}, r.tooDeep...)
		if !valid(w.Method, c.request) {
			c.owed = []Outcome{Malformed, Exhausted}
		}
	case bomb:
		const groups = 4 // of RankRequest
		c.method = (&workloads.Workload{Method: "Rank"}).MethodPath()
		c.request = hostile.EmptyMessages(groups, bombBytes/2+r.dice.IntN(bombBytes/2))
		c.owed = []Outcome{Exhausted}
	case deep:
		c.request = append(hostile.DeepGroups(deepLevels), c.request...)
		c.owed = append([]Outcome{OK}, r.tooDeep...)
	case truncated:
		c.request = r.truncate(w.Method, c.request)
		c.owed = []Outcome{Malformed}
	case cancelled:
		c.owed = []Outcome{OK, Cancelled}
	case late:
		// A deadline that passes at the server while it replies ends the stream, and grpc-go's client may read
		// that before its own has passed. Stock servers of gRPC C++ do it as well.
		c.owed = []Outcome{OK, Late, CutShort}
	case cut:
		c.owed = []Outcome{OK, Broken}
	default:
		panic("bench/soak: no kind " + kind)
	}
	return c
}

// truncate leaves some of the bytes, so that they are no message.
func (r *rudeness) truncate(method string, request []byte) []byte {
	for {
		if part := request[:1+r.dice.IntN(len(request)-1)]; !valid(method, part) {
			return part
		}
	}
}

func valid(method string, wire []byte) bool {
	return proto.Unmarshal(wire, workloads.NewRequest(method)) == nil
}

// send makes the call. straight leads to the server; through does as well, and cuts the connection.
func (c *rudeCall) send(straight load.Caller, through func() (load.Caller, func(), error)) error {
	ctx, end := context.WithTimeout(context.Background(), rudeTimeout)
	defer end()
	caller := straight
	switch c.kind {
	case cancelled:
		giveUp := time.AfterFunc(c.pause, end)
		defer giveUp.Stop()
	case late:
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, c.pause)
		defer stop()
	case cut:
		own, leave, err := through()
		if err != nil {
			return fmt.Errorf("dialling: %w", err)
		}
		defer leave()
		caller = own
	}
	_, err := caller(ctx, c.method, c.request)
	return err
}
