package demo

import (
	"bytes"
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/status"

	"github.com/harena-project/harena/bench/go/rawcodec"
	"github.com/harena-project/harena/bench/go/workloads"
)

// BombReport says what became of a request that takes far more memory than it has bytes, and of the
// ordinary one after it.
type BombReport struct {
	WireBytes     int    `json:"wire_bytes"`
	Status        string `json:"status"`
	Message       string `json:"message"`
	NextStatus    string `json:"next_status"`
	NextReplySize int    `json:"next_reply_bytes"`
}

// SendBomb sends a feed of nothing but empty entities, of four bytes each, and then the given ordinary
// request.
func SendBomb(ctx context.Context, client grpc.ClientConnInterface, entities int, next *workloads.Workload) BombReport {
	options := []grpc.CallOption{grpc.ForceCodecV2(rawcodec.Codec{}), grpc.MaxCallRecvMsgSize(MessageBytesMax),
		grpc.MaxCallSendMsgSize(MessageBytesMax)}
	// header { gtfs_realtime_version: "2.0" }, then entity { id: "" } time and again
	bomb := append([]byte("\x0a\x05\x0a\x032.0"), bytes.Repeat([]byte("\x12\x02\x0a\x00"), entities)...)
	var reply []byte
	err := client.Invoke(ctx, "/"+workloads.ServiceName+"/BoardFeed", &bomb, &reply, options...)
	report := BombReport{WireBytes: len(bomb), Status: status.Code(err).String(), Message: status.Convert(err).Message()}
	err = client.Invoke(ctx, next.MethodPath(), &next.Requests[0], &reply, options...)
	report.NextStatus, report.NextReplySize = status.Code(err).String(), len(reply)
	return report
}
