// Package grpccodec has grpc-go's own codec, for rows without Harena in programs that link Harena:
// the adapter puts its codec in that one's place when the program starts. Packages start in the order
// of their import paths, where nothing else decides, and this one starts before the adapter;
// TestItIsGRPCsOwn holds it.
package grpccodec

import (
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
)

var own = encoding.GetCodecV2(proto.Name)

// Own returns the codec that grpc-go registered under the name "proto".
func Own() encoding.CodecV2 { return own }
