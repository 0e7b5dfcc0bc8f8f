package load

import (
	"context"
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/harena-project/harena/bench/go/demo"
	"github.com/harena-project/harena/bench/go/rawcodec"
)

// GRPC calls by grpc-go.
func GRPC(client grpc.ClientConnInterface) Caller {
	return func(ctx context.Context, method string, request []byte) ([]byte, error) {
		var reply []byte
		err := client.Invoke(ctx, method, &request, &reply, grpc.ForceCodecV2(rawcodec.Codec{}),
			grpc.MaxCallRecvMsgSize(demo.MessageBytesMax), grpc.MaxCallSendMsgSize(demo.MessageBytesMax))
		return reply, err
	}
}

// DialGRPC calls the server on the loopback port by grpc-go, until the process ends.
func DialGRPC(port int) (Caller, error) {
	client, err := NewGRPC(port)
	if err != nil {
		return nil, err
	}
	return GRPC(client), nil
}

// NewGRPC returns a client of the server on the loopback port, without TLS.
func NewGRPC(port int) (*grpc.ClientConn, error) {
	return grpc.NewClient(fmt.Sprintf("127.0.0.1:%d", port), grpc.WithTransportCredentials(insecure.NewCredentials()))
}
