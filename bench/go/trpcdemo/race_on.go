//go:build race

package trpcdemo

import (
	"trpc.group/trpc-go/trpc-go/transport"
	"trpc.group/trpc-go/trpc-go/transport/tnet"
)

// The race detector's checkptr ends programs that use tnet: it reads epoll's events at addresses that
// are not aligned. trpc-go's own network code serves and calls then.
func init() {
	tnet.DefaultServerTransport = transport.DefaultServerStreamTransport
	tnet.DefaultClientTransport = transport.DefaultClientTransport
}
