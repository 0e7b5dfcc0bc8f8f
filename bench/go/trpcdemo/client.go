package trpcdemo

import (
	"context"
	"fmt"

	"trpc.group/trpc-go/trpc-go/client"
	"trpc.group/trpc-go/trpc-go/codec"

	"github.com/harena-project/harena/bench/go/load"
)

// Dial calls the server on the loopback port with bytes that are protobuf's already: a load generator that
// encoded and decoded would measure itself.
func Dial(port int) (load.Caller, error) {
	options := []client.Option{
		client.WithTarget(fmt.Sprintf("ip://127.0.0.1:%d", port)),
		client.WithProtocol("trpc"),
		client.WithSerializationType(codec.SerializationTypePB),
		client.WithCurrentSerializationType(codec.SerializationTypeNoop),
	}
	return func(ctx context.Context, method string, request []byte) ([]byte, error) {
		ctx, message := codec.WithCloneMessage(ctx)
		defer codec.PutBackMessage(message)
		message.WithClientRPCName(method)
		var reply codec.Body
		err := client.DefaultClient.Invoke(ctx, &codec.Body{Data: request}, &reply, options...)
		return reply.Data, err
	}, nil
}
