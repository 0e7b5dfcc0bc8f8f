// Package pb decodes protobuf messages into an arena and encodes them, for the ordinary types that
// protoc-gen-go makes. There is no plugin and no code to generate.
//
//	m := arena.NewOf[foopb.Request](a)
//	err := pb.Unmarshal(a, input, m)
//	...
//	output, err := pb.Marshal(reply)
//
// [Unmarshal] accepts, rejects and yields what proto.Unmarshal does, with one exception, below.
// [Marshal] writes the same bytes as proto.Marshal; with Deterministic, also for maps. The first needs
// one allocation for a message of any size, the text of its strings, and seldom a second; Marshal needs
// one, its result.
//
// # How it works
//
// For each message type there is a table, made when the type is first met: where protoc-gen-go put
// which field in the struct, and how it looks on the wire. The decoder walks the input by it and
// stores into the struct; what the struct points to is taken from the arena, lists in one piece. The
// encoder walks the struct and writes the output from its end to its start, which spares it from
// finding the length of every sub-message beforehand.
//
// # Why it is sound
//
// Memory has its type. Structs, slices and the wrappers of oneofs come from chunks that the arena
// allocates as arrays of their type (see package arena), so that the garbage collector sees every
// pointer in them. Pointers, strings and slices are stored as such, which keeps the compiler's write
// barriers. There is no pointer past the end of an object, and none that is kept as a number.
//
// Tables are not trusted. Field offsets and types are read by reflection and compared with the
// descriptor; presence bits and oneof wrappers are found by having protobuf set each field and looking
// at what changed. A finished table is then held against protobuf, field by field: a message with that
// field set must encode to protobuf's bytes and decode to an equal message. A type that fails, because
// a later protoc-gen-go lays it out differently or because it was written by hand, is left to protobuf.
//
// Maps are the runtime's own. They are made with the field's type and filled through the type of the
// same shape: map[int32]Color as map[uint32]uint32. How the runtime hashes and lays out a map follows
// from the sizes and the pointers of key and value, which are the same; tests hold that for all pairs
// of types, and the check above for every field.
//
// # Lifetimes
//
// Sub-messages, slices, bytes and maps belong to the arena: they end with its Reset or Free, unless its
// Retain was called. The message itself is where the caller put it.
//
// Strings do not end. They are copied out of the input into one block of memory, which is never written
// again and which the garbage collector keeps as long as one of them is in use. How long a block has to
// be is known from the messages of that type before; where it turns out too short there is another. A
// program that keeps one short string of a large message should clone it.
// [UnmarshalOptions.UnmarshalString] needs no copy, as its input cannot change, and neither does
// AliasInput, where the caller promises that.
//
// The input may be reused as soon as Unmarshal returns, except with AliasInput.
//
// Decoded slices have no room behind them that is anybody else's: an append either uses room of the
// slice's own or moves to the heap. A message may be in several arenas and on the heap at once, and may
// be decoded into again with Merge; its parts then end with the arena that each of them came from.
//
// # Limits
//
// [Limits] bounds what one message may take, before it is taken. Without it a hostile input of a
// few megabytes can ask for some hundreds of times its size. What is counted is what the message asks
// for. The memory that is taken for it can be more by what is spare in the arena's chunks: for each
// type at most as much again as the type uses and not more than 64 KiB, or an eighth in arrays of
// more than 16 KiB, or a sixteenth of what the arena holds of a type, beyond a megabyte; and at least
// 1 KiB for each type. Maps are counted at what they may grow to, and what protobuf
// does at the most that its input can turn into, so that these may be refused where they would have
// fitted.
//
// # What is left to protobuf
//
//   - Extensions are decoded by protobuf, and so are unknown fields of messages that can have some;
//     messages that hold extensions are encoded by it.
//   - Messages in which protobuf left lazy fields undecoded. The codec itself decodes lazy fields at
//     once.
//   - Required fields are checked by protobuf where the codec saw one missing, or cannot tell: in
//     messages that hold extensions, and with Merge. AllowPartial spares that.
//   - Whole messages: message sets, types of other generators and older ones, types written by hand
//     that keep a field in a way of their own, and messages without generated code, such as
//     dynamicpb's.
//
// All of these work, at protobuf's speed and on the heap. [Explain] says which types are concerned.
//
// In one case the verdict is not protobuf's. Its limit of 10,000 levels starts anew at an extension
// that is met at the very limit, so that four megabytes of nested extensions overflow the stack and end
// the process. Here the limit holds, and such an input is an error.
package pb
