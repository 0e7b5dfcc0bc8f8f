package inbound

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/harena-project/harena/go/arena"
	"github.com/harena-project/harena/go/scope"
)

func wire(t *testing.T, m proto.Message) string {
	t.Helper()
	data, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func decoder(limits scope.Options) *Decoder {
	return &Decoder{Method: "/s/m", Arena: arena.New(), Limits: limits}
}

func TestUnmarshal(t *testing.T) {
	d := decoder(scope.Options{})
	defer d.Arena.Free()
	m := &wrapperspb.StringValue{}
	if inTime, err := d.UnmarshalString(wire(t, wrapperspb.String("text")), m); !inTime || err != nil || m.Value != "text" {
		t.Errorf("%v, %v, %v", m, inTime, err)
	}
	if !d.Decoded() || d.Refusal() != nil {
		t.Errorf("decoded %v, refusal %v", d.Decoded(), d.Refusal())
	}
	if _, err := d.UnmarshalString("\xff", m); !errors.Is(err, proto.Error) {
		t.Errorf("garbage: %v", err)
	}
}

func TestRefusals(t *testing.T) {
	deep := structpb.NewNullValue()
	for range 10 {
		deep = structpb.NewListValue(&structpb.ListValue{Values: []*structpb.Value{deep}})
	}
	many := &structpb.ListValue{}
	for range 1000 {
		many.Values = append(many.Values, &structpb.Value{})
	}
	for want, c := range map[string]struct {
		limits  scope.Options
		message proto.Message
	}{
		"/s/m: RequestBytesMax is 50 bytes, and the request alone has 102 on the wire": {
			scope.Options{RequestBytesMax: 50}, wrapperspb.String(strings.Repeat("x", 100))},
		"/s/m: RequestBytesMax is 5000 bytes; 2000 on the wire and at least": {
			scope.Options{RequestBytesMax: 5000}, many},
		"/s/m: DecodedRatioMax is 5: 2000 bytes on the wire may take 10000 bytes (DecodedFloorBytes), and at least": {
			scope.Options{DecodedRatioMax: 5, DecodedFloorBytes: 1000}, many},
		"/s/m: DecodedRatioMax is 2: 2000 bytes on the wire may take 7000 bytes (DecodedFloorBytes), and at least": {
			scope.Options{DecodedRatioMax: 2, DecodedFloorBytes: 7000, RequestBytesMax: 1 << 20}, many},
		"/s/m: RequestBytesMax is 7000 bytes; 2000 on the wire and at least": {
			scope.Options{DecodedRatioMax: 100, DecodedFloorBytes: 7000, RequestBytesMax: 7000}, many},
		"/s/m: DepthMax is 4 levels, and the request nests deeper": {
			scope.Options{DepthMax: 4}, deep},
	} {
		d := decoder(c.limits)
		m := c.message.ProtoReflect().New().Interface()
		inTime, err := d.UnmarshalString(wire(t, c.message), m)
		if !inTime || err != nil || d.Refusal() == nil || !strings.HasPrefix(d.Refusal().Error(), want) {
			t.Errorf("refusal %v, %v, %v, want %q", d.Refusal(), inTime, err, want)
		} else if !strings.Contains(want, d.Refusal().Limit+" is") {
			t.Errorf("the limit of %q is %s", want, d.Refusal().Limit)
		}
		if proto.Size(m) != 0 {
			t.Errorf("%q leaves %v", want, m)
		}
		d.Arena.Free()
	}
}

// The messages of a stream share one limit.
func TestWireBytesAddUp(t *testing.T) {
	d := decoder(scope.Options{RequestBytesMax: 400})
	defer d.Arena.Free()
	data := wire(t, wrapperspb.String(strings.Repeat("x", 198)))
	for i, want := range []bool{false, true} {
		if _, err := d.UnmarshalString(data, &wrapperspb.StringValue{}); err != nil || (d.Refusal() != nil) != want {
			t.Errorf("message %d: %v, %v", i, d.Refusal(), err)
		}
	}
}

func TestRefusedWhileItIsReceived(t *testing.T) {
	d := decoder(scope.Options{RequestBytesMax: 50})
	defer d.Arena.Free()
	m := &wrapperspb.StringValue{}
	for text, want := range map[string]bool{"short": false, strings.Repeat("x", 100): true} {
		err := d.Receive(func(message any) error {
			if Refused(message) {
				t.Error("refused before it was decoded")
			}
			_, err := d.Unmarshal([]byte(wire(t, wrapperspb.String(text))), m)
			if Refused(message) != want {
				t.Errorf("refused %v, want %v", !want, want)
			}
			return err
		}, m)
		if err != nil || Refused(m) {
			t.Errorf("%v; afterwards nobody waits for it: %v", err, Refused(m))
		}
		d = decoder(d.Limits)
	}
}

func TestReceiveLetsACodecFindTheDecoder(t *testing.T) {
	d := decoder(scope.Options{})
	defer d.Arena.Free()
	m := &wrapperspb.StringValue{}
	failed := errors.New("failed")
	err := d.Receive(func(message any) error {
		if found, ok := Find(message); !ok || found != d {
			t.Error("the decoder is not found")
		}
		if _, ok := Find(&wrapperspb.StringValue{}); ok {
			t.Error("a decoder is found for another message")
		}
		return failed
	}, m)
	if err != failed || Waiting() != 0 {
		t.Errorf("%v, %d wait", err, Waiting())
	}
	if err := d.Receive(func(any) error { return nil }, "no message"); err != nil || d.Decoded() {
		t.Errorf("%v, decoded %v", err, d.Decoded())
	}
}

// A ratio that is not reached changes nothing, and the arena is under the request's limit again.
func TestRatioThatIsNotReached(t *testing.T) {
	d := decoder(scope.Options{DecodedRatioMax: 100, RequestBytesMax: 10_000})
	defer d.Arena.Free()
	m := &wrapperspb.StringValue{}
	if _, err := d.Unmarshal([]byte(wire(t, wrapperspb.String("text"))), m); err != nil || d.Refusal() != nil || m.Value != "text" {
		t.Errorf("%v, %v, %v", m, err, d.Refusal())
	}
	arena.MakeSlice[byte](d.Arena, 5000, 5000)
	defer func() {
		if OfPanic("/s/m", d.Limits, recover()) == nil {
			t.Error("the request's limit is not held after decoding")
		}
	}()
	arena.MakeSlice[byte](d.Arena, 50_000, 50_000)
}

// What is refused by its wire alone is not copied.
func TestRefusedBeforeTheCopy(t *testing.T) {
	budget := &arena.Budget{Name: scope.ProcessBytesMax}
	budget.SetBytesMax(1000)
	for want, d := range map[string]*Decoder{
		"/s/m: RequestBytesMax is 50 bytes":                                           decoder(scope.Options{RequestBytesMax: 50}),
		"/s/m: ProcessBytesMax is 1000 bytes: 0 are in use and 5000 more were wanted": decoder(scope.Options{}),
	} {
		d.Arena.SetBudget(budget)
		inTime, err := d.UnmarshalFrom(5000, func() []byte {
			t.Error("the wire was copied")
			return nil
		}, &wrapperspb.StringValue{})
		if !inTime || err != nil || d.Refusal() == nil || !strings.HasPrefix(d.Refusal().Error(), want) {
			t.Errorf("%v, %v, %v, want %q", inTime, err, d.Refusal(), want)
		}
		d.Arena.Free()
	}
}

func TestDecodingOverTheProcessLimit(t *testing.T) {
	budget := &arena.Budget{Name: scope.ProcessBytesMax}
	budget.SetBytesMax(10_000)
	many := &structpb.ListValue{}
	for range 1000 {
		many.Values = append(many.Values, &structpb.Value{})
	}
	d := decoder(scope.Options{})
	d.Arena.SetBudget(budget)
	_, err := d.Unmarshal([]byte(wire(t, many)), &structpb.ListValue{})
	if err != nil || d.Refusal() == nil || d.Refusal().Limit != scope.ProcessBytesMax {
		t.Errorf("%v, %v", d.Refusal(), err)
	}
	d.Arena.Free()
	if used := budget.BytesUsed(); used != 0 {
		t.Errorf("%d bytes do not come back", used)
	}
}

func TestUnmarshalAfterClose(t *testing.T) {
	d := decoder(scope.Options{})
	defer d.Arena.Free()
	if !d.Close() || d.Close() {
		t.Error("Close is for once")
	}
	m := &wrapperspb.StringValue{}
	if inTime, err := d.UnmarshalString(wire(t, wrapperspb.String("late")), m); inTime || err != nil || m.Value != "" {
		t.Errorf("%v, %v, %v", m, inTime, err)
	}
}

func TestCloseWhileDecoding(t *testing.T) {
	d := decoder(scope.Options{})
	defer d.Arena.Free()
	if !d.state.CompareAndSwap(idle, decoding) || d.Close() {
		t.Error("a message is closed while it is decoded")
	}
}

func TestOfPanic(t *testing.T) {
	a := arena.New()
	defer a.Free()
	a.SetBytesMax(900)
	var panicked any
	func() {
		defer func() { panicked = recover() }()
		arena.MakeSlice[byte](a, 5000, 5000)
	}()
	want := "/s/m: RequestBytesMax is 1000 bytes, 100 of them for the wire; 0 were taken from the arena and 5000 more were wanted"
	got := OfPanic("/s/m", scope.Options{RequestBytesMax: 1000}, panicked)
	if got == nil || got.Error() != want {
		t.Errorf("got %v, want %s", got, want)
	}
	if got := OfPanic("/s/m", scope.Options{}, panicked); got != nil {
		t.Errorf("a method without a limit refuses: %v", got)
	}
	for _, other := range []any{nil, "text", errors.New("error"), fmt.Errorf("wrapped: %w", errors.New("error"))} {
		if got := OfPanic("/s/m", scope.Options{RequestBytesMax: 1000}, other); got != nil {
			t.Errorf("a panic with %v refuses: %v", other, got)
		}
	}
}
