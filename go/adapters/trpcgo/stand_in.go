package trpcgo

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/runtime/protoiface"
	"trpc.group/trpc-go/trpc-go/codec"

	"github.com/harena-project/harena/go/pb"
	"github.com/harena-project/harena/go/pb/inbound"
	"github.com/harena-project/harena/go/scope"
)

// incoming takes the place of a message where trpc-go hands it to the serializer. It is that message
// for everybody who goes by reflection, and for protobuf one that decodes itself: into an arena.
type incoming struct {
	protoreflect.Message // the real one
	inbound.Decoder

	immutable bool      // strings may be parts of the bytes
	self      *incoming // another one after an assignment
}

// standInFor returns what the serializer is to be given for a message: the stand-in, or the message
// itself where that would not be understood.
func (in *incoming) standInFor(message any, known settings, msg codec.Msg) any {
	real, ok := valid(message)
	if !ok || !known.covered(msg) {
		return message
	}
	in.Message, in.immutable, in.self = real.ProtoReflect(), known.immutable(msg), in
	return in
}

// ProtoReflect makes it a proto.Message.
func (in *incoming) ProtoReflect() protoreflect.Message { return in }

// ProtoMethods tells protobuf how it is decoded.
func (in *incoming) ProtoMethods() *protoiface.Methods { return &incomingMethods }

// String is the message's.
func (in *incoming) String() string { return fmt.Sprint(in.Message.Interface()) }

var incomingMethods = protoiface.Methods{
	Unmarshal: func(input protoiface.UnmarshalInput) (protoiface.UnmarshalOutput, error) {
		// Whether something required is missing is looked at while decoding.
		done := protoiface.UnmarshalOutput{Flags: protoiface.UnmarshalInitialized}
		return done, input.Message.(*incoming).unmarshal(input.Buf)
	},
}

func (in *incoming) unmarshal(data []byte) error {
	message := in.Message.Interface()
	var inTime bool
	var err error
	if in.immutable {
		inTime, err = in.Decoder.UnmarshalString(unsafe.String(unsafe.SliceData(data), len(data)), message)
	} else {
		inTime, err = in.Decoder.Unmarshal(data, message)
	}
	if inTime {
		return err
	}
	return proto.Unmarshal(data, message)
}

// outgoing takes the place of a message likewise, and encodes it by Harena's tables.
type outgoing struct {
	protoreflect.Message // the real one

	// The scope that ends when the message is encoded, or nil.
	scope *scope.Scope
	// What counts the scope as ended if the message is never encoded.
	lost runtime.Cleanup
}

// ProtoReflect makes it a proto.Message.
func (o *outgoing) ProtoReflect() protoreflect.Message { return o }

// ProtoMethods tells protobuf how it is encoded.
func (o *outgoing) ProtoMethods() *protoiface.Methods { return &outgoingMethods }

// String is the message's.
func (o *outgoing) String() string { return fmt.Sprint(o.Message.Interface()) }

var outgoingMethods = protoiface.Methods{
	Marshal: func(input protoiface.MarshalInput) (protoiface.MarshalOutput, error) {
		data, err := input.Message.(*outgoing).marshal(input.Buf)
		return protoiface.MarshalOutput{Buf: data}, err
	},
	// Encoding looks for what is required, and afterwards the message may be gone.
	CheckInitialized: func(protoiface.CheckInitializedInput) (protoiface.CheckInitializedOutput, error) {
		return protoiface.CheckInitializedOutput{}, nil
	},
}

var errEncodedTwice = errors.New("harena/trpcgo: a reply is encoded that was encoded before, and ended then")

func (o *outgoing) marshal(buffer []byte) (data []byte, err error) {
	if o.scope == nil {
		return pb.MarshalOptions{}.MarshalAppend(buffer, o.Message.Interface())
	}
	if o.scope.Ended() {
		return buffer, errEncodedTwice
	}
	defer o.lost.Stop()
	defer o.scope.Abandon() // unless it has ended
	timer := o.scope.StartEncoding()
	data, err = pb.MarshalOptions{}.MarshalAppend(buffer, o.Message.Interface())
	timer.Stop()
	if err == nil {
		o.scope.End()
	}
	return data, err
}

// valid returns the message that somebody handed to trpc-go, if it is one and not a nil pointer.
func valid(message any) (proto.Message, bool) {
	m, ok := message.(proto.Message)
	return m, ok && m.ProtoReflect().IsValid()
}
