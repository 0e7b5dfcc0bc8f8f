package process

import (
	"runtime"
	"runtime/debug"
	"strings"
)

// measured are the modules whose versions go with the numbers.
var measured = map[string]string{
	"google.golang.org/grpc":               "grpc-go",
	"google.golang.org/protobuf":           "protobuf-go",
	"trpc.group/trpc-go/trpc-go":           "trpc-go",
	"connectrpc.com/connect":               "connect-go",
	"github.com/planetscale/vtprotobuf":    "vtprotobuf",
	"buf.build/go/hyperpb":                 "hyperpb",
	"github.com/VictoriaMetrics/easyproto": "easyproto",
}

// Versions returns the versions of Go and of the measured modules in this program, by name.
func Versions() map[string]string {
	versions := map[string]string{"Go": strings.TrimPrefix(runtime.Version(), "go")}
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, module := range build.Deps {
			if name, ok := measured[module.Path]; ok {
				versions[name] = module.Version
			}
		}
	}
	return versions
}
