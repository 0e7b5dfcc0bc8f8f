package trpcgo

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"trpc.group/trpc-go/trpc-go/codec"

	"github.com/harena-project/harena/go/adapters/trpcgo/internal/testpb"
	"github.com/harena-project/harena/go/scope"
)

func newScope(t *testing.T) (*scope.Pool, *scope.Scope) {
	t.Helper()
	pool, err := scope.NewPool(scope.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return pool, pool.Get()
}

func TestStringsArePartsOfTheBytesOnlyIfThoseNeverChange(t *testing.T) {
	data, err := proto.Marshal(&testpb.Note{Text: "some text", Blob: []byte("some bytes")})
	if err != nil {
		t.Fatal(err)
	}
	inside := func(p *byte) bool {
		begin := uintptr(unsafe.Pointer(unsafe.SliceData(data)))
		return uintptr(unsafe.Pointer(p)) >= begin && uintptr(unsafe.Pointer(p)) < begin+uintptr(len(data))
	}
	for _, immutable := range []bool{false, true} {
		_, s := newScope(t)
		var in incoming
		in.Init("/s/m", s)
		in.immutable = immutable
		m := &testpb.Note{Number: 3}
		in.Message = m.ProtoReflect()
		if err := (&codec.PBSerialization{}).Unmarshal(data, &in); err != nil || m.Text != "some text" || m.Number != 0 {
			t.Errorf("%v, %v", m, err)
		}
		if inside(unsafe.StringData(m.Text)) != immutable || inside(unsafe.SliceData(m.Blob)) {
			t.Errorf("immutable %v: text inside %v, bytes inside %v", immutable,
				inside(unsafe.StringData(m.Text)), inside(unsafe.SliceData(m.Blob)))
		}
		s.End()
	}
}

// Whoever goes by reflection finds the message.
func TestStandInsAreTheMessage(t *testing.T) {
	m := &testpb.Note{Text: "text", Author: &testpb.Author{Name: "name"}}
	for _, standIn := range []proto.Message{&incoming{Message: m.ProtoReflect()}, &outgoing{Message: m.ProtoReflect()}} {
		if !proto.Equal(standIn, m) || !proto.Equal(proto.Clone(standIn), m) {
			t.Errorf("%T is not equal to its message", standIn)
		}
		if got := fmt.Sprint(standIn); got != fmt.Sprint(m) {
			t.Errorf("%T prints as %q", standIn, got)
		}
		if got := protojson.Format(standIn); !strings.Contains(got, `"name"`) {
			t.Errorf("%T is %s in JSON", standIn, got)
		}
		if standIn.ProtoReflect().Interface() != proto.Message(m) {
			t.Errorf("%T does not lead to its message", standIn)
		}
		if got, err := proto.Marshal(standIn); err != nil || proto.Size(m) != len(got) {
			t.Errorf("%T has %d bytes, want %d: %v", standIn, len(got), proto.Size(m), err)
		}
	}
}

func TestReplyEndsItsScopeWhenItIsEncoded(t *testing.T) {
	_, s := newScope(t)
	o := outgoing{Message: (&testpb.Note{Text: "text"}).ProtoReflect(), scope: s}
	data, err := (&codec.PBSerialization{}).Marshal(&o)
	if err != nil || string(data) != "\n\x04text" || !s.Ended() {
		t.Errorf("%q, %v, ended %v", data, err, s.Ended())
	}
	if _, err := (&codec.PBSerialization{}).Marshal(&o); !errors.Is(err, errEncodedTwice) {
		t.Errorf("encoded twice: %v", err)
	}
	_, s = newScope(t)
	o = outgoing{Message: (&testpb.Note{Text: "\xff"}).ProtoReflect(), scope: s}
	if _, err := (&codec.PBSerialization{}).Marshal(&o); err == nil || !s.Ended() {
		t.Errorf("text that is not UTF-8: %v, ended %v", err, s.Ended())
	}
}

// A serializer may leave a reply unencoded. Its scope then ends when the garbage collector finds it.
func TestReplyThatIsNeverEncoded(t *testing.T) {
	pool, err := scope.NewPool(scope.Options{})
	if err != nil {
		t.Fatal(err)
	}
	func() {
		c := &call{method: &method{pool: pool}, settings: unknownSettings}
		_, c.msg = codec.WithNewMessage(t.Context())
		pool.Start(&c.scope)
		c.scope.Arena().String("in use")
		if out, _ := c.handOver(&testpb.Note{}); out != any(&c.out) {
			t.Error("the reply has no stand-in")
		}
	}()
	for deadline := time.Now().Add(20 * time.Second); pool.Stats().ScopesAlive() != 0; {
		if time.Now().After(deadline) {
			t.Fatalf("the lost scope stays alive: %+v", pool.Stats())
		}
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	if stats := pool.Stats(); stats.ScopesRetained != 1 {
		t.Errorf("a lost scope counts as %+v", stats)
	}
}

// A filter that returned before its call may decode when the arena has another owner.
func TestLateDecoding(t *testing.T) {
	_, s := newScope(t)
	defer s.End()
	var in incoming
	in.Init("/s/m", s)
	m := &testpb.Note{}
	in.Message = m.ProtoReflect()
	if !in.Close() {
		t.Fatal("an idle message cannot be closed")
	}
	if err := proto.Unmarshal([]byte("\n\x04text"), &in); err != nil || m.Text != "text" || s.BytesUsed() != 0 {
		t.Errorf("%v, %v, %d bytes of the arena", m, err, s.BytesUsed())
	}
}
