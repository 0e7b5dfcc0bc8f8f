package workloads_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"reflect"
	"testing"

	"google.golang.org/protobuf/proto"

	plainbench "github.com/harena-project/harena/bench/go/gen/plain/benchpb"
	plaingtfs "github.com/harena-project/harena/bench/go/gen/plain/gtfspb"
	plaintile "github.com/harena-project/harena/bench/go/gen/plain/tilepb"
	"github.com/harena-project/harena/bench/go/gen/vt/benchpb"
	"github.com/harena-project/harena/bench/go/gen/vt/gtfspb"
	"github.com/harena-project/harena/bench/go/gen/vt/tilepb"
	poolbench "github.com/harena-project/harena/bench/go/gen/vtpool/benchpb"
	poolgtfs "github.com/harena-project/harena/bench/go/gen/vtpool/gtfspb"
	pooltile "github.com/harena-project/harena/bench/go/gen/vtpool/tilepb"
	"github.com/harena-project/harena/bench/go/workloads"
	"github.com/harena-project/harena/go/arena"
)

func load(t *testing.T, name string) *workloads.Workload {
	t.Helper()
	testdata, err := workloads.FindTestdata()
	if err != nil {
		t.Fatal(err)
	}
	w, err := workloads.Load(name, testdata)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// The digests are those of the requests that the C++ generator makes.
func TestRequestsAreThoseOfTheCppWorkloads(t *testing.T) {
	for _, c := range []struct {
		name    string
		request int
		digest  string
	}{
		{"ranking_8k", 0, "3aa4f453670933b528275bf25bef39eaeb01d4b4c76fc8f40bb88d93b8643238"},
		{"ranking_8k", 15, "5927fe6934684a70e51bbba0e45bc31f313ef145f70f193ccd07c183380b2fa4"},
		{"ranking_8k_one", 0, "683a9360be96e33eae711b1967a6ec51490135da28e4998d0a1b786555950c46"},
		{"ranking_200k", 0, "fff3b4b7b12d973def10d65e238efe1de02f62d2911c967bbeb535dbc2938a37"},
		{"ranking_200k", 15, "d9255ed5baed4482ab1c90d5bd6a5a0b5a30e5265c622e1ba97601dd8f740ab7"},
		{"ranking_200k_one", 0, "697f43c0b614d45b6efbf10d5b64a76c615c29ba51727358ae03b0b11f80ca6a"},
	} {
		requests := load(t, c.name).Requests
		if got := fmt.Sprintf("%x", sha256.Sum256(requests[c.request])); got != c.digest {
			t.Errorf("%s, request %d: digest %s, want %s", c.name, c.request, got, c.digest)
		}
	}
}

func TestHandlersDoNotDependOnWhereMessagesLive(t *testing.T) {
	a := arena.New()
	defer a.Free()
	for _, name := range workloads.Names() {
		w := load(t, name)
		for _, wire := range w.Requests {
			request := workloads.NewRequest(w.Method)
			if err := proto.Unmarshal(wire, request); err != nil {
				t.Fatal(err)
			}
			want, err := workloads.DeterministicBytes(workloads.Handle(nil, request))
			if err != nil {
				t.Fatal(err)
			}
			got, err := workloads.DeterministicBytes(workloads.Handle(a, request))
			if err != nil {
				t.Fatal(err)
			}
			a.Reset()
			if !bytes.Equal(got, want) {
				t.Errorf("%s: the arena's response differs from the heap's", name)
			}
			if len(want) < len(wire)/2 || len(want) > len(wire)*2 {
				t.Errorf("%s: a response of %d bytes to a request of %d", name, len(want), len(wire))
			}
		}
	}
}

func TestUnknownNamesAreRefused(t *testing.T) {
	if _, err := workloads.Load("nonsense", ""); err == nil {
		t.Error("Load of an unknown workload gives no error")
	}
	if _, err := workloads.Load("trips", "no/such/folder"); err == nil {
		t.Error("Load without the payload gives no error")
	}
}

// That the rows of a comparison may use gen/vt's types for the plain ones, and that a reader of one may
// read the other, rests on this.
func TestAllVariantsHaveTheSameLayout(t *testing.T) {
	for _, types := range [][]any{
		{(*benchpb.RankRequest)(nil), (*plainbench.RankRequest)(nil), (*poolbench.RankRequest)(nil)},
		{(*benchpb.RankResponse)(nil), (*plainbench.RankResponse)(nil), (*poolbench.RankResponse)(nil)},
		{(*benchpb.FeedBoard)(nil), (*plainbench.FeedBoard)(nil), (*poolbench.FeedBoard)(nil)},
		{(*gtfspb.FeedMessage)(nil), (*plaingtfs.FeedMessage)(nil), (*poolgtfs.FeedMessage)(nil)},
		{(*tilepb.Tile)(nil), (*plaintile.Tile)(nil), (*pooltile.Tile)(nil)},
	} {
		for _, other := range types[1:] {
			sameLayout(t, reflect.TypeOf(types[0]), reflect.TypeOf(other), map[reflect.Type]bool{})
		}
	}
}

func sameLayout(t *testing.T, x, y reflect.Type, seen map[reflect.Type]bool) {
	if x.Kind() != y.Kind() || x.Size() != y.Size() || x.Name() != y.Name() {
		t.Errorf("%v and %v differ", x, y)
		return
	}
	if seen[x] || x == y {
		return
	}
	seen[x] = true
	switch x.Kind() {
	case reflect.Pointer, reflect.Slice:
		sameLayout(t, x.Elem(), y.Elem(), seen)
	case reflect.Struct:
		if x.NumField() != y.NumField() {
			t.Errorf("%v and %v have different fields", x, y)
			return
		}
		for i := range x.NumField() {
			f, g := x.Field(i), y.Field(i)
			if f.Name != g.Name || f.Offset != g.Offset {
				t.Errorf("%v.%s and %v.%s differ", x, f.Name, y, g.Name)
			}
			sameLayout(t, f.Type, g.Type, seen)
		}
	case reflect.Map:
		sameLayout(t, x.Elem(), y.Elem(), seen)
	}
}
