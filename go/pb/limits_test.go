package pb

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"maps"
	"runtime"
	"slices"
	"testing"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/harena-project/harena/go/arena"
	"github.com/harena-project/harena/go/pb/internal/testpb"
	"github.com/harena-project/harena/go/pb/internal/testpb/workloads/benchpb"
)

// flood is an input that is made to take much more memory than it has bytes.
type flood struct {
	name  string
	mt    protoreflect.MessageType
	piece func(n int) []byte // the n-th
}

const floodBytes = 64 << 10

// input returns pieces up to the flood's size.
func (f flood) input() []byte {
	var out []byte
	for n := 0; len(out) < floodBytes; n++ {
		out = append(out, f.piece(n)...)
	}
	return out
}

// smallest returns the shortest forms of a field: those that take the most memory for a byte.
func smallest(fd protoreflect.FieldDescriptor) map[string]func(n int) []byte {
	number := fd.Number()
	tagged := func(wire protowire.Type, value ...byte) []byte {
		return append(protowire.AppendTag(nil, number, wire), value...)
	}
	bytesOf := func(content []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), content)
	}
	always := func(b []byte) func(int) []byte { return func(int) []byte { return b } }
	switch {
	case fd.IsMap():
		forms := map[string]func(int) []byte{"empty entries": always(bytesOf(nil))}
		key := fd.MapKey()
		forms["entries"] = func(n int) []byte {
			var entry []byte
			switch key.Kind() {
			case protoreflect.StringKind:
				entry = protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), fmt.Sprint(n))
			case protoreflect.Fixed32Kind, protoreflect.Sfixed32Kind:
				entry = protowire.AppendFixed32(protowire.AppendTag(nil, 1, protowire.Fixed32Type), uint32(n))
			case protoreflect.Fixed64Kind, protoreflect.Sfixed64Kind:
				entry = protowire.AppendFixed64(protowire.AppendTag(nil, 1, protowire.Fixed64Type), uint64(n))
			default:
				entry = protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), uint64(n))
			}
			return bytesOf(entry)
		}
		return forms
	case fd.Kind() == protoreflect.GroupKind:
		return map[string]func(int) []byte{"groups": always(append(tagged(protowire.StartGroupType), tagged(protowire.EndGroupType)...))}
	case fd.Message() != nil || fd.Kind() == protoreflect.StringKind || fd.Kind() == protoreflect.BytesKind:
		return map[string]func(int) []byte{"empty": always(bytesOf(nil)), "short": always(bytesOf([]byte{0x78, 1}))}
	}
	forms := make(map[string]func(int) []byte)
	switch fd.Kind() {
	case protoreflect.Fixed32Kind, protoreflect.Sfixed32Kind, protoreflect.FloatKind:
		forms["numbers"] = always(tagged(protowire.Fixed32Type, 0, 0, 0, 0))
	case protoreflect.Fixed64Kind, protoreflect.Sfixed64Kind, protoreflect.DoubleKind:
		forms["numbers"] = always(tagged(protowire.Fixed64Type, 0, 0, 0, 0, 0, 0, 0, 0))
	default:
		forms["numbers"] = always(tagged(protowire.VarintType, 0))
	}
	if fd.IsList() {
		forms["packed"] = always(bytesOf(make([]byte, floodBytes)))
		forms["short packed"] = always(bytesOf(make([]byte, 8)))
	}
	return forms
}

// allFields returns the fields of a message and the extensions that are linked in.
func allFields(md protoreflect.MessageDescriptor) []protoreflect.FieldDescriptor {
	var all []protoreflect.FieldDescriptor
	for i := range md.Fields().Len() {
		all = append(all, md.Fields().Get(i))
	}
	protoregistry.GlobalTypes.RangeExtensionsByMessage(md.FullName(), func(xt protoreflect.ExtensionType) bool {
		all = append(all, xt.TypeDescriptor())
		return true
	})
	slices.SortFunc(all, func(a, b protoreflect.FieldDescriptor) int { return cmp.Compare(a.Number(), b.Number()) })
	return all
}

// byKey goes through m in the order of its keys.
func byKey[V any](m map[string]V) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			if !yield(key, m[key]) {
				return
			}
		}
	}
}

// floods makes, for one type: each field alone over and over, each field of each sub-message in a
// sub-message of its own, and unknown fields of every wire type. In the same order in every run.
func floods(mt protoreflect.MessageType) []flood {
	name := string(mt.Descriptor().FullName())
	var all []flood
	for _, fd := range allFields(mt.Descriptor()) {
		for form, piece := range byKey(smallest(fd)) {
			all = append(all, flood{fmt.Sprintf("%s.%s, %s", name, fd.Name(), form), mt, piece})
		}
		sub, number := fd.Message(), fd.Number()
		if fd.IsMap() {
			sub = fd.MapValue().Message()
		}
		if sub == nil || fd.Kind() == protoreflect.GroupKind {
			continue
		}
		for _, inner := range allFields(sub) {
			for form, piece := range byKey(smallest(inner)) {
				if form == "packed" {
					continue
				}
				wrap := func(n int) []byte {
					content := piece(n)
					if fd.IsMap() {
						content = protowire.AppendBytes(protowire.AppendTag(nil, 2, protowire.BytesType), content)
					}
					return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), content)
				}
				all = append(all, flood{fmt.Sprintf("%s.%s.%s, %s", name, fd.Name(), inner.Name(), form), mt, wrap})
			}
		}
	}
	for _, unknown := range [][]byte{{0xf8, 0xff, 0x3f, 0}, {0xfa, 0xff, 0x3f, 0}, {0xfb, 0xff, 0x3f, 0xfc, 0xff, 0x3f}, {0xfd, 0xff, 0x3f, 1, 2, 3, 4}} {
		all = append(all, flood{fmt.Sprintf("%s, unknown fields %x", name, unknown), mt, func(int) []byte { return unknown }})
	}
	return all
}

// What a decoding may take beyond a BytesMax of up to 64 KiB: the chunks of an arena double up to
// 64 KiB, so that at most as much as is used may be spare; each type has a chunk of at least 1 KiB; and
// a new arena, decoder, error and extension map have their own size.
const beyondBytesMax = 64<<10 + 48<<10

// allocated returns the bytes that f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// freshPool has nothing to give: its arenas are never freed.
var freshPool = arena.NewPool(arena.PoolOptions{})

func checkFlood(t *testing.T, f flood, o UnmarshalOptions) (limited bool) {
	t.Helper()
	input := f.input()
	// protobuf makes its tables when they are needed.
	_ = o.Unmarshal(freshPool.Get(), input[:min(len(input), 64)], f.mt.New().Interface())
	m := f.mt.New().Interface()
	a := freshPool.Get()
	var err error
	taken := allocated(func() { err = o.Unmarshal(a, input, m) })
	if err != nil && !errors.Is(err, ErrLimit) {
		t.Fatalf("%s: %v", f.name, err)
	}
	if most := uint64(o.Limits.BytesMax + beyondBytesMax); taken > most {
		t.Errorf("%s: took %d bytes, %d are allowed (%v)", f.name, taken, most, err)
	}
	if used := a.Stats().BytesUsed; used > o.Limits.BytesMax {
		t.Errorf("%s: %d bytes of the arena are in use", f.name, used)
	}
	return err != nil
}

// TestLimitsHold: no input takes more than it may, whatever it is made of, on the fast path and where
// protobuf does the work.
func TestLimitsHold(t *testing.T) {
	o := UnmarshalOptions{AllowPartial: true, Limits: Limits{BytesMax: 64 << 10}}
	types := messageTypes()
	for _, m := range []proto.Message{(*evenMessage)(nil), (*oddMessage)(nil), (*bareMessage)(nil)} {
		types = append(types, m.ProtoReflect().Type())
	}
	for _, name := range []string{"Deep", "MapValues", "Groups", "Extendable", "Many"} {
		mt, err := protoregistry.GlobalTypes.FindMessageByName(protoreflect.FullName("harena.test." + name))
		if err != nil {
			t.Fatal(err)
		}
		types = append(types, dynamicpb.NewMessageType(mt.Descriptor()))
	}
	count, limited := 0, 0
	for _, mt := range types {
		// Tables, and protobuf's own, are made once.
		warm, _ := proto.MarshalOptions{AllowPartial: true}.Marshal(makeRandom(mt, 1))
		_ = UnmarshalOptions{Limits: o.Limits}.Unmarshal(arena.New(), warm, mt.New().Interface())
		all := floods(mt)
		if slow() {
			all = all[:min(len(all), 5)]
		}
		for _, f := range all {
			if checkFlood(t, f, o) {
				limited++
			}
			count++
		}
	}
	t.Logf("%d of %d inputs went over the limit", limited, count)
	if limited < count/3 {
		t.Error("hardly any input went over the limit: this tests nothing")
	}
}

// TestLimitsAreNotTooTight: what is refused under a small limit decodes without one, and under one
// that is large enough.
func TestLimitsAreNotTooTight(t *testing.T) {
	for _, mt := range messageTypes() {
		wire, err := proto.MarshalOptions{AllowPartial: true}.Marshal(makeRandom(mt, 2))
		if err != nil {
			t.Fatal(err)
		}
		for _, bytesMax := range []int64{0, 1 << 30} {
			o := UnmarshalOptions{AllowPartial: true, Limits: Limits{BytesMax: bytesMax}}
			if err := o.Unmarshal(arena.New(), wire, mt.New().Interface()); err != nil {
				t.Fatalf("%s, %d bytes: %v", mt.Descriptor().FullName(), len(wire), err)
			}
		}
	}
	// An ordinary request takes about what it holds, and is not refused long before.
	wire, err := proto.Marshal(ranking(50))
	if err != nil {
		t.Fatal(err)
	}
	bytesMax := int64(len(wire)) * 6
	if err := (UnmarshalOptions{Limits: Limits{BytesMax: bytesMax}}).Unmarshal(arena.New(), wire, new(benchpb.RankRequest)); err != nil {
		t.Errorf("a request of %d bytes: %v", len(wire), err)
	}
}

// TestLimitError says what happened.
func TestLimitError(t *testing.T) {
	wire, err := proto.Marshal(&testpb.RepeatedScalars{StringValue: make([]string, 1000)})
	if err != nil {
		t.Fatal(err)
	}
	err = UnmarshalOptions{Limits: Limits{BytesMax: 1000}}.Unmarshal(arena.New(), wire, new(testpb.RepeatedScalars))
	var limit *LimitError
	if !errors.As(err, &limit) || limit.Limit != "BytesMax" || limit.Max != 1000 || limit.Wanted < 16000 {
		t.Errorf("%+v", err)
	}
	if errors.Is(err, proto.Error) {
		t.Error("protobuf would have accepted the input")
	}
	a := arena.New()
	a.SetBytesMax(1000)
	for _, o := range []UnmarshalOptions{{}, {Limits: Limits{BytesMax: 1 << 20}}} {
		err = o.Unmarshal(a, wire, new(testpb.RepeatedScalars))
		if !errors.As(err, &limit) || limit.Limit != "arena" || limit.Wanted < 16000 || limit.Wanted > 1<<20 {
			t.Errorf("%+v", err)
		}
	}
}

// TestFloodIsRefusedAtOnce: a list that cannot fit is refused before its first message is made.
func TestFloodIsRefusedAtOnce(t *testing.T) {
	wire, err := proto.Marshal(&testpb.RepeatedScalars{PointValue: make([]*testpb.Point, 100_000)})
	if err != nil {
		t.Fatal(err)
	}
	a := arena.New()
	defer a.Free()
	err = UnmarshalOptions{Limits: Limits{BytesMax: 1 << 20}}.Unmarshal(a, wire, new(testpb.RepeatedScalars))
	var limit *LimitError
	if !errors.As(err, &limit) || limit.Wanted < 100_000*int64(unsafe.Sizeof(testpb.Point{})) {
		t.Errorf("%+v", err)
	}
	if used := a.Stats().BytesUsed; used > 0 {
		t.Errorf("%d bytes were taken from the arena", used)
	}
}

// TestArenaBound: an arena with a bound refuses without a panic, wherever the bound is met, and is of
// use again afterwards.
func TestArenaBound(t *testing.T) {
	var a arena.Arena
	for _, mt := range messageTypes() {
		for seed := range uint64(3) {
			wire, err := proto.MarshalOptions{AllowPartial: true}.Marshal(makeRandom(mt, seed))
			if err != nil {
				t.Fatal(err)
			}
			o := UnmarshalOptions{AllowPartial: true}
			accepted := false
			for bytesMax := int64(1); !accepted && bytesMax < 1<<22; bytesMax += 1 + bytesMax/3 {
				a.SetBytesMax(bytesMax)
				err := o.Unmarshal(&a, wire, mt.New().Interface())
				if err != nil && !errors.Is(err, ErrLimit) {
					t.Fatalf("%s: %v", mt.Descriptor().FullName(), err)
				}
				accepted = err == nil
				a.Reset()
			}
			if !accepted {
				t.Fatalf("%s: %d bytes of input do not fit into 4 MiB", mt.Descriptor().FullName(), len(wire))
			}
			a.SetBytesMax(0)
			want, got := mt.New().Interface(), mt.New().Interface()
			_ = proto.UnmarshalOptions{AllowPartial: true}.Unmarshal(wire, want)
			if err := o.Unmarshal(&a, wire, got); err != nil || !proto.Equal(want, got) {
				t.Fatalf("%s: %v after a refusal: %v", mt.Descriptor().FullName(), got, err)
			}
			a.Reset()
		}
	}
}
