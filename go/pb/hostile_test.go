package pb

import (
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/harena-project/harena/go/arena"
)

// hostileRounds is how often the whole is done: more by HARENA_HOSTILE_ROUNDS.
func hostileRounds() int {
	if n, err := strconv.Atoi(os.Getenv("HARENA_HOSTILE_ROUNDS")); err == nil && n > 0 {
		return n
	}
	return 1
}

// hostileWire mixes what costs its sender least and its receiver most: fields of one type over and
// over, in turn with others, in messages in messages, with unknown fields and deep groups in between.
func hostileWire(md protoreflect.MessageDescriptor, pieces []flood, bytes int, random *rand.Rand) []byte {
	var wire []byte
	for len(wire) < bytes {
		piece := pieces[random.IntN(len(pieces))].piece
		times := 1 + random.IntN(4)
		if random.IntN(3) == 0 {
			times = 1 + random.IntN(400)
		}
		from := random.IntN(1000)
		for i := range times {
			if wire = append(wire, piece(from+i)...); len(wire) >= bytes {
				break
			}
		}
		switch random.IntN(12) {
		case 0:
			wire = append(wire, unknownGroups(random.IntN(90))...)
		case 1:
			wire = nested(md, wire, random.IntN(90))
		}
	}
	return wire
}

// unknownGroups returns groups in groups, of a number that no type has.
func unknownGroups(levels int) (wire []byte) {
	for range levels {
		wire = protowire.AppendTag(wire, 1<<20, protowire.StartGroupType)
	}
	for range levels {
		wire = protowire.AppendTag(wire, 1<<20, protowire.EndGroupType)
	}
	return wire
}

// nested puts a message into one of its own type, where it has such a field.
func nested(md protoreflect.MessageDescriptor, wire []byte, levels int) []byte {
	for i := range md.Fields().Len() {
		fd := md.Fields().Get(i)
		if fd.Kind() == protoreflect.MessageKind && fd.Message() == md {
			for range levels {
				wire = protowire.AppendBytes(protowire.AppendTag(nil, fd.Number(), protowire.BytesType), wire)
			}
			return wire
		}
	}
	return wire
}

// TestSafetyHostileWire: no message takes more than its budget and one slab, whatever its wire is made
// of; none that fits is refused; and the next one is served.
func TestSafetyHostileWire(t *testing.T) {
	tried, refused, wrongly := 0, 0, 0
	for round := range hostileRounds() {
		for _, mt := range messageTypes() {
			random := rand.New(rand.NewPCG(uint64(len(mt.Descriptor().FullName())), uint64(round)))
			pieces := floods(mt)
			for range times(6) {
				wire := hostileWire(mt.Descriptor(), pieces, 500+random.IntN(20_000), random)
				inputs, r, w := checkHostile(t, mt, wire, random)
				tried, refused, wrongly = tried+inputs, refused+r, wrongly+w
			}
		}
	}
	t.Logf("safety: inputs_tried=%d budgets_refused=%d requests_wrongly_refused=%d", tried, refused, wrongly)
	if refused < tried/10 {
		t.Error("hardly any input went over the limit: this tests nothing")
	}
}

func checkHostile(t *testing.T, mt protoreflect.MessageType, wire []byte, random *rand.Rand) (tried, refused, wrongly int) {
	t.Helper()
	unlimited := UnmarshalOptions{AllowPartial: true}
	free := freshPool.Get()
	_ = unlimited.Unmarshal(free, wire, mt.New().Interface()) // protobuf makes its tables
	free = freshPool.Get()
	var freeErr error
	need := int64(allocated(func() { freeErr = unlimited.Unmarshal(free, wire, mt.New().Interface()) }))
	// Maps and what is left to protobuf are charged with the worst that they can take, beside what the
	// arena has taken for the message.
	sure := max(8*need, int64(len(wire))*worstBytesPerByte(mt)+chunkBytes)
	for _, bytesMax := range []int64{1 + random.Int64N(need+1), need, sure} {
		tried++
		if err := checkBudget(t, mt, wire, bytesMax, 0, freeErr); errors.Is(err, ErrLimit) {
			refused++
			if bytesMax == sure {
				wrongly++
				t.Errorf("%s: refused with %d bytes, although %d are needed: %v", mt.Descriptor().FullName(), bytesMax, need, err)
			}
		}
	}
	return tried, refused, wrongly
}

// checkBudget decodes wire in an arena that may take bytesMax, of a process that may take
// processBytesMax (zero: any number), and returns what that was refused for. Neither is exceeded by more
// than a slab, all of it comes back, and the next message is served. freeErr is what decoding without
// limits returns.
func checkBudget(t *testing.T, mt protoreflect.MessageType, wire []byte, bytesMax, processBytesMax int64, freeErr error) error {
	t.Helper()
	name := mt.Descriptor().FullName()
	process := &arena.Budget{Name: "ProcessBytesMax"}
	process.SetBytesMax(processBytesMax)
	most := bytesMax
	if processBytesMax > 0 {
		most = min(most, processBytesMax)
	}
	o := UnmarshalOptions{AllowPartial: true, Limits: Limits{BytesMax: bytesMax}}
	var a *arena.Arena
	var m proto.Message
	var err error
	// The runtime rounds up what it is asked for, by an eighth at most; see beyondBytesMax for the
	// rest, of which one slab is the largest part.
	takenMax := most + most/8 + beyondBytesMax
	taken := int64(math.MaxInt64)
	// What else the process allocates counts too, so that only what is always too much is.
	for tries := 0; tries < 3 && taken > takenMax; tries++ {
		if a != nil {
			a.Free()
		}
		a = freshPool.Get()
		a.SetBytesMax(bytesMax)
		a.SetBudget(process)
		m = mt.New().Interface()
		taken = int64(allocated(func() { err = o.Unmarshal(a, wire, m) }))
	}
	if taken > takenMax {
		t.Errorf("%s: took %d bytes of %d for %d of wire (%v)", name, taken, most, len(wire), err)
	}
	if got := a.BytesTaken(); got > most+chunkBytes {
		t.Errorf("%s: the arena took %d bytes of %d", name, got, most)
	}
	if got := process.BytesUsed(); processBytesMax > 0 && got > processBytesMax {
		t.Errorf("%s: %d bytes of the process are used of %d", name, got, processBytesMax)
	}
	if !errors.Is(err, ErrLimit) && (err == nil) != (freeErr == nil) {
		t.Errorf("%s: %v with a limit, %v without", name, err, freeErr)
	}
	if err == nil {
		compareWithProtobuf(t, wire, m)
	}
	a.Reset()
	if err := o.Unmarshal(a, nil, mt.New().Interface()); err != nil && !errors.Is(err, ErrLimit) {
		t.Errorf("%s: the next message: %v", name, err)
	}
	a.Free()
	if got := process.BytesUsed(); got != 0 {
		t.Errorf("%s: %d bytes of the process do not come back", name, got)
	}
	return err
}

// compareWithProtobuf holds a decoded message against what protobuf makes of its wire.
func compareWithProtobuf(t *testing.T, wire []byte, m proto.Message) {
	t.Helper()
	expected := m.ProtoReflect().New().Interface()
	if err := (proto.UnmarshalOptions{AllowPartial: true}).Unmarshal(wire, expected); err != nil {
		t.Errorf("%T: accepted, but protobuf says %v", m, err)
	} else if !proto.Equal(expected, m) {
		t.Errorf("%T: %v, but protobuf makes %v", m, m, expected)
	}
}

// chunkBytes is the largest slab that an arena of less than a megabyte takes at once.
const chunkBytes = 64 << 10

// worstBytesPerByte is what the codec charges at most for a byte of wire of that type.
func worstBytesPerByte(mt protoreflect.MessageType) int64 {
	d := decoder{options: UnmarshalOptions{}}
	return max(tableOf(mt.New()).bytesPerByte, d.worstExtension(), 512)
}

// TestSafetyBudgetOfMany: messages that are decoded at once share one budget; the newest are refused,
// and all of it comes back.
func TestSafetyBudgetOfMany(t *testing.T) {
	wire := mustMarshal(t, ranking(20))
	budget := &arena.Budget{Name: "ProcessBytesMax"}
	one := freshPool.Get()
	one.SetBudget(budget)
	if err := Unmarshal(one, wire, ranking(0).ProtoReflect().New().Interface()); err != nil {
		t.Fatal(err)
	}
	each := budget.BytesUsed()
	one.Free()
	budget.SetBytesMax(5 * each)
	var held []*arena.Arena
	refused := 0
	for range 9 {
		a := freshPool.Get()
		a.SetBudget(budget)
		err := Unmarshal(a, wire, ranking(0).ProtoReflect().New().Interface())
		var limit *LimitError
		switch {
		case err == nil:
			held = append(held, a)
		case errors.As(err, &limit) && limit.Limit == "ProcessBytesMax" && limit.Max == 5*each && limit.Wanted > 0:
			refused++
			a.Free()
		default:
			t.Fatal(err)
		}
		if used := budget.BytesUsed(); used > 5*each {
			t.Errorf("%d bytes are used of %d", used, 5*each)
		}
	}
	if len(held) != 5 || refused != 4 || budget.Refusals() == 0 {
		t.Errorf("%d served, %d refused, %d counted", len(held), refused, budget.Refusals())
	}
	for _, a := range held {
		a.Free()
	}
	if used := budget.BytesUsed(); used != 0 {
		t.Errorf("%d bytes do not come back", used)
	}
}

func mustMarshal(t *testing.T, m proto.Message) []byte {
	t.Helper()
	wire, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return wire
}
