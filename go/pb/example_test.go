package pb_test

import (
	"errors"
	"fmt"

	"github.com/harena-project/harena/go/arena"
	"github.com/harena-project/harena/go/pb"
	"github.com/harena-project/harena/go/pb/internal/testpb"
	"github.com/harena-project/harena/go/pb/internal/testpb/workloads/benchpb"
)

func ExampleUnmarshal() {
	input, _ := pb.Marshal(&benchpb.Candidate{ItemId: "B07", Tags: []*benchpb.Tag{{Key: "color", Value: "blue"}}})

	a := arena.New()
	defer a.Free() // ends m, its tags and everything else in it, but no string
	m := arena.NewOf[benchpb.Candidate](a)
	if err := pb.Unmarshal(a, input, m); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.GetItemId(), m.GetTags()[0].GetKey(), m.GetTags()[0].GetValue())
	// Output: B07 color blue
}

func ExampleMarshal() {
	// Arena, heap or both: the encoder does not mind.
	a := arena.New()
	defer a.Free()
	tag := arena.NewOf[benchpb.Tag](a)
	tag.Key = "size"
	output, err := pb.Marshal(&benchpb.Candidate{Tags: []*benchpb.Tag{tag}})
	fmt.Printf("%q %v\n", output, err)
	// Output: "*\x06\n\x04size" <nil>
}

func ExampleUnmarshalOptions_aliasInput() {
	// The caller gives the input away: nobody writes to it from now on.
	input, _ := pb.Marshal(&benchpb.Tag{Key: "color"})
	a := arena.New()
	defer a.Free()
	m := arena.NewOf[benchpb.Tag](a)
	err := pb.UnmarshalOptions{AliasInput: true}.Unmarshal(a, input, m)
	fmt.Println(m.GetKey(), err)
	// Output: color <nil>
}

func ExampleUnmarshalOptions_UnmarshalString() {
	input := "\n\x05color"
	a := arena.New()
	defer a.Free()
	m := arena.NewOf[benchpb.Tag](a)
	err := pb.UnmarshalOptions{}.UnmarshalString(a, input, m) // strings of m are parts of the input
	fmt.Println(m.GetKey(), err)
	// Output: color <nil>
}

func ExampleLimits() {
	// A thousand empty tags: two bytes each on the wire.
	input, _ := pb.Marshal(&benchpb.Candidate{Tags: make([]*benchpb.Tag, 1000)})
	a := arena.New()
	defer a.Free()
	options := pb.UnmarshalOptions{Limits: pb.Limits{BytesMax: 16 << 10, DepthMax: 20}}
	err := options.Unmarshal(a, input, arena.NewOf[benchpb.Candidate](a))

	var limit *pb.LimitError
	if errors.Is(err, pb.ErrLimit) && errors.As(err, &limit) {
		fmt.Printf("%d bytes of input need more than %s\n", len(input), limit.Limit)
	}
	// Output: 2000 bytes of input need more than BytesMax
}

func ExampleExplain() {
	report := pb.Explain((*testpb.Extendable)(nil))
	fmt.Println(report.Fast())
	fmt.Print(report)
	// Output:
	// true
	// harena.test.Extendable  fast
	//                         - protobuf decodes extensions, and encodes messages that hold some
	//                         - protobuf checks required fields where one may be missing, unless AllowPartial is set
}
