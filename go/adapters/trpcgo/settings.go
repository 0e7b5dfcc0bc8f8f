package trpcgo

import (
	"reflect"

	trpc "trpc.group/trpc-go/trpc-go"
	"trpc.group/trpc-go/trpc-go/client"
	"trpc.group/trpc-go/trpc-go/codec"
	"trpc.group/trpc-go/trpc-go/server"
	"trpc.group/trpc-go/trpc-go/transport"
)

// settings is what matters of the options of trpc-go's server or client around a call.
type settings struct {
	// freshFrames says that each message is read into memory of its own, which nobody writes to
	// afterwards.
	freshFrames bool
	// decodedApart says that requests are decoded before their call begins, to be assigned to it then.
	decodedApart bool
	// serialization and compression are used in place of what a message's header says, unless they
	// are negative.
	serialization, compression int
}

// unknownSettings are safe to go by whatever the options are.
var unknownSettings = settings{serialization: -1, compression: -1}

// covered reports whether trpc-go's own serializer for protobuf is the one at work. It takes any
// message, where others may look for a type of their own.
func (s settings) covered(msg codec.Msg) bool {
	if s.decodedApart {
		return false
	}
	kind := msg.SerializationType()
	if s.serialization >= 0 {
		kind = s.serialization
	}
	if kind != codec.SerializationTypePB {
		return false
	}
	_, own := codec.GetSerializer(codec.SerializationTypePB).(*codec.PBSerialization)
	return own
}

// immutable reports whether the bytes that the serializer is given never change: those of a fresh
// frame, or what trpc-go's own decompressors or bounded ones made of it.
func (s settings) immutable(msg codec.Msg) bool {
	if !s.freshFrames {
		return false
	}
	kind := msg.CompressType()
	if s.compression >= 0 {
		kind = s.compression
	}
	if kind <= codec.CompressTypeNoop {
		return true
	}
	switch codec.GetCompressor(kind).(type) {
	case *codec.GzipCompress, *codec.SnappyCompress, *codec.SnappyBlockCompressor, *codec.ZlibCompress, *boundedCompressor:
		return true
	}
	return false
}

// servicesOf returns the services that a registrar registers with: those of a whole server, or itself.
func servicesOf(registrar server.Service) []server.Service {
	whole, ok := registrar.(*server.Server)
	if !ok || whole == nil {
		return []server.Service{registrar}
	}
	named := reflect.ValueOf(whole).Elem().FieldByName("services")
	if named.Kind() != reflect.Map || named.Type().Key().Kind() != reflect.String {
		return []server.Service{registrar}
	}
	var all []server.Service
	for _, name := range named.MapKeys() {
		all = append(all, whole.Service(name.String()))
	}
	return all
}

// settingsOf reads the options of a service. trpc-go does not tell them, so this reads its own field;
// where it is not found, and for other implementations, nothing is known.
func settingsOf(service server.Service) settings {
	v := reflect.ValueOf(service)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return unknownSettings
	}
	field := v.Elem().FieldByName("opts")
	if !field.IsValid() || field.Type() != reflect.TypeFor[*server.Options]() || field.IsNil() {
		return unknownSettings
	}
	options := (*server.Options)(field.UnsafePointer())
	var serve transport.ListenServeOptions
	for _, set := range options.ServeOptions {
		set(&serve)
	}
	_, ownCodec := options.Codec.(*trpc.ServerCodec)
	return settings{
		freshFrames:   ownCodec && framesAreFresh(serve.FramerBuilder) && isOfTRPC(options.Transport),
		decodedApart:  decodesApart(&serve),
		serialization: options.CurrentSerializationType,
		compression:   options.CurrentCompressType,
	}
}

// decodesApart reports whether the options of a server ask trpc-go to keep requests in an order that it
// finds in their contents. Versions after 1.0.3 can.
func decodesApart(options any) bool {
	extractor := reflect.ValueOf(options).Elem().FieldByName("KeepOrderPreUnmarshalExtractor")
	return extractor.IsValid() && !extractor.IsZero()
}

// clientSettings reads the options of a call that a client makes.
func clientSettings(options *client.Options) settings {
	var call transport.RoundTripOptions
	for _, set := range options.CallOptions {
		set(&call)
	}
	_, ownCodec := options.Codec.(*trpc.ClientCodec)
	return settings{
		freshFrames: ownCodec && framesAreFresh(call.FramerBuilder) && isOfTRPC(options.Transport) &&
			(call.Pool == nil || isOfTRPC(call.Pool)) && (call.Multiplexed == nil || isOfTRPC(call.Multiplexed)),
		serialization: options.CurrentSerializationType,
		compression:   options.CurrentCompressType,
	}
}

// framesAreFresh reports whether frames are read by trpc-go's own framer, which allocates each.
func framesAreFresh(builder codec.FramerBuilder) bool {
	_, own := builder.(*trpc.FramerBuilder)
	return own
}

const trpcPath = "trpc.group/trpc-go/trpc-go/"

// frameCarriers are the packages of trpc-go whose types pass frames on as they are, or copy them.
var frameCarriers = map[string]bool{
	trpcPath + "transport":                true,
	trpcPath + "transport/tnet":           true,
	trpcPath + "transport/tnet/multiplex": true,
	trpcPath + "pool/connpool":            true,
	trpcPath + "pool/multiplexed":         true,
}

// isOfTRPC reports whether a transport or pool of connections is one of trpc-go's own.
func isOfTRPC(implementation any) bool {
	t := reflect.TypeOf(implementation)
	return t != nil && t.Kind() == reflect.Pointer && frameCarriers[t.Elem().PkgPath()]
}
