//go:build race

package soak_test

import (
	"trpc.group/trpc-go/trpc-go/transport"
	"trpc.group/trpc-go/trpc-go/transport/tnet"
)

// The race detector's checkptr ends programs that use tnet, see trpcdemo's test. trpc-go's own network
// code is tested then.
func init() {
	tnet.DefaultServerTransport = transport.DefaultServerStreamTransport
	tnet.DefaultClientTransport = transport.DefaultClientTransport
}
