package workloads

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/harena-project/harena/bench/go/gen/vt/benchpb"
	"github.com/harena-project/harena/bench/go/gen/vt/gtfspb"
	"github.com/harena-project/harena/bench/go/gen/vt/tilepb"
	"github.com/harena-project/harena/go/arena"
)

// Workload is a named input of one method of the demo's service. Immutable, so that goroutines may
// share it.
type Workload struct {
	Name string
	// Method is the method's name in DemoService, such as "Rank".
	Method string
	// Requests are wire bytes, at least one. Callers go through them in turn.
	Requests [][]byte
}

// ServiceName is the demo's service as every client knows it.
const ServiceName = "harena.bench.v1.DemoService"

// MethodPath is the method's full name.
func (w *Workload) MethodPath() string { return "/" + ServiceName + "/" + w.Method }

const (
	variants = 16
	seed     = 20241120
)

// recipe is a payload file, or the size of a synthetic request.
type recipe struct {
	name, method string
	file         string
	nominalBytes float64
	variants     int
}

var recipes = []recipe{
	{"ranking_8k", "Rank", "", 8_000, variants},
	{"ranking_8k_one", "Rank", "", 8_000, 1},
	{"ranking_200k", "Rank", "", 200_000, variants},
	{"ranking_200k_one", "Rank", "", 200_000, 1},
	{"trips", "BoardFeed", "mbta-trip-updates.pb", 0, 1},
	{"vehicles", "BoardFeed", "mbta-vehicle-positions.pb", 0, 1},
	{"tile", "RestyleTile", "osm-montevideo-12-1410-2472.mvt", 0, 1},
}

// Names returns the names that Load knows.
func Names() []string {
	var names []string
	for _, r := range recipes {
		names = append(names, r.name)
	}
	return names
}

// Load returns the named workload. testdata is the folder of the real payloads; [FindTestdata] finds
// the source tree's.
func Load(name, testdata string) (*Workload, error) {
	for _, r := range recipes {
		if r.name != name {
			continue
		}
		w := &Workload{Name: r.name, Method: r.method}
		var err error
		if r.file == "" {
			w.Requests, err = makeRankRequests(r.nominalBytes, r.variants, seed)
		} else {
			var wire []byte
			wire, err = os.ReadFile(filepath.Join(testdata, r.file))
			w.Requests = [][]byte{wire}
		}
		return w, err
	}
	return nil, fmt.Errorf("no workload named %q; there are %s", name, strings.Join(Names(), ", "))
}

// FindTestdata returns the testdata folder of the source tree that the working directory is in.
func FindTestdata() (string, error) {
	folder, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		testdata := filepath.Join(folder, "testdata")
		if _, err := os.Stat(filepath.Join(testdata, recipes[4].file)); err == nil {
			return testdata, nil
		}
		parent := filepath.Dir(folder)
		if parent == folder {
			return "", fmt.Errorf("no folder testdata with the payloads here or above; name it with -testdata")
		}
		folder = parent
	}
}

// NewRequest returns an empty request message of the method.
func NewRequest(method string) proto.Message {
	switch method {
	case "Rank":
		return &benchpb.RankRequest{}
	case "BoardFeed":
		return &gtfspb.FeedMessage{}
	case "RestyleTile":
		return &tilepb.Tile{}
	}
	panic("bench/workloads: no method " + method)
}

// Handle calls the handler of a request message, with the response in the arena, or on the heap when
// that is nil.
func Handle(a *arena.Arena, request proto.Message) proto.Message {
	switch m := request.(type) {
	case *benchpb.RankRequest:
		return Rank(a, m)
	case *gtfspb.FeedMessage:
		return BoardFeed(a, m)
	case *tilepb.Tile:
		return RestyleTile(a, m)
	}
	panic(fmt.Sprintf("bench/workloads: no method takes %T", request))
}
