package load

import (
	"bytes"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/harena-project/harena/bench/go/workloads"
)

// sameAnswer compares a reply with the answer computed here, and returns how many bytes it has to have.
func sameAnswer(method string, request, reply []byte) (int, error) {
	in := workloads.NewRequest(method)
	if err := proto.Unmarshal(request, in); err != nil {
		return 0, err
	}
	answer := workloads.Handle(nil, in)
	want, err := workloads.DeterministicBytes(answer)
	if err != nil {
		return 0, err
	}
	proto.Reset(answer)
	if err := proto.Unmarshal(reply, answer); err != nil {
		return 0, err
	}
	got, err := workloads.DeterministicBytes(answer)
	if err != nil {
		return 0, err
	}
	if !bytes.Equal(got, want) {
		return 0, fmt.Errorf("%w: it is not the answer computed here", ErrReply)
	}
	return len(want), nil
}
