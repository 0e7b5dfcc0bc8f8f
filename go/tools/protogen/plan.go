package main

// module is the import path of the repository's root; a folder's import path is module + "/" + folder.
const module = "github.com/harena-project/harena"

// unit is one folder tree of generated code.
type unit struct {
	// dir is where the packages go, relative to the repository.
	dir string
	// packages maps a folder below dir ("" for dir itself) to its .proto files. A file stands in one
	// package only, and what it imports must be in the same unit or one of protobuf's own.
	packages map[string][]string
	// plugins run over every file, in this order.
	plugins []plugin
	// variant renames the schemas, so that one program may link this unit and another of the same
	// files. Empty: nothing is renamed.
	variant variant
}

// plugin is a protoc plugin with its parameters besides the import paths.
type plugin struct {
	name   string
	params []string
}

var (
	messages     = plugin{name: "protoc-gen-go"}
	grpcStubs    = plugin{name: "protoc-gen-go-grpc"}
	connectStubs = plugin{name: "protoc-gen-connect-go"}
)

func messagesAt(apiLevel string) plugin {
	return plugin{name: "protoc-gen-go", params: []string{"default_api_level=" + apiLevel}}
}

var vtMethods = plugin{name: "protoc-gen-go-vtproto", params: []string{
	"features=marshal+unmarshal+size+unmarshal_unsafe",
}}

// vtPoolMethods is vtprotobuf with pools for every message below dir. It is another unit than
// vtMethods, because the pools slow the decoder down where nothing is given back to them.
func vtPoolMethods(dir string) plugin {
	return plugin{name: "protoc-gen-go-vtproto", params: []string{
		"features=marshal+unmarshal+size+pool+unmarshal_unsafe",
		"pool=" + module + "/" + dir + "/**/*",
	}}
}

// codecSchemas are what the codec's tests cover field kind by field kind.
var codecSchemas = []string{
	"harena/test/go_deep.proto",
	"harena/test/go_editions.proto",
	"harena/test/go_extensions.proto",
	"harena/test/go_groups.proto",
	"harena/test/go_implicit.proto",
	"harena/test/go_lazy.proto",
	"harena/test/go_many.proto",
	"harena/test/go_maps.proto",
	"harena/test/go_numbers.proto",
	"harena/test/go_oneofs.proto",
	"harena/test/go_proto2.proto",
	"harena/test/go_required.proto",
	"harena/test/go_scalars.proto",
	"harena/test/go_well_known.proto",
	"harena/test/shapes.proto",
	"harena/test/shapes2.proto",
	"harena/test/wide.proto",
}

// hybridSchemas are fewer: the Hybrid API has the Open API's fields, and accessors besides.
var hybridSchemas = []string{
	"harena/test/go_deep.proto",
	"harena/test/go_editions.proto",
	"harena/test/go_lazy.proto",
	"harena/test/go_oneofs.proto",
	"harena/test/go_scalars.proto",
}

var workloadPackages = map[string][]string{
	"benchpb": {"harena/bench/v1/ranking.proto", "harena/bench/v1/demo.proto"},
	"gtfspb":  {"transit_realtime/gtfs_realtime.proto"},
	"tilepb":  {"vector_tile/vector_tile.proto"},
}

var echoPackages = map[string][]string{"": {"harena/test/echo.proto"}}

var plan = []unit{
	{
		dir:      "go/pb/internal/testpb",
		packages: map[string][]string{"": codecSchemas},
		plugins:  []plugin{messages},
	},
	{
		dir:      "go/pb/internal/testpb/opaquepb",
		packages: map[string][]string{"": codecSchemas},
		plugins:  []plugin{messagesAt("API_OPAQUE")},
		variant:  "opaque",
	},
	{
		dir:      "go/pb/internal/testpb/hybridpb",
		packages: map[string][]string{"": hybridSchemas},
		plugins:  []plugin{messagesAt("API_HYBRID")},
		variant:  "hybrid",
	},
	{
		dir:      "go/pb/internal/testpb/levelspb",
		packages: map[string][]string{"": {"harena/test/go_levels.proto"}},
		plugins:  []plugin{messages},
	},
	{
		dir:      "go/pb/internal/testpb/workloads",
		packages: workloadPackages,
		plugins:  []plugin{messages},
	},
	{
		dir:      "go/pb/echotest",
		packages: echoPackages,
		plugins:  []plugin{messages},
	},
	// The adapters' stubs take these messages for their own, by aliases in note.go. Those of trpcgo are
	// written by hand: trpc-go's generator is not a module.
	{
		dir:      "go/adapters/grpcgo/internal/testpb",
		packages: echoPackages,
		plugins:  []plugin{grpcStubs},
	},
	{
		dir:      "go/adapters/connectgo/internal/testpb",
		packages: echoPackages,
		plugins:  []plugin{connectStubs},
	},
	{
		dir:      "bench/go/gen/plain",
		packages: workloadPackages,
		plugins:  []plugin{messages, grpcStubs},
	},
	{
		dir:      "bench/go/gen/vt",
		packages: workloadPackages,
		plugins:  []plugin{messages, grpcStubs, vtMethods},
		variant:  "vt",
	},
	{
		dir:      "bench/go/gen/vtpool",
		packages: workloadPackages,
		plugins:  []plugin{messages, vtPoolMethods("bench/go/gen/vtpool")},
		variant:  "vtpool",
	},
}
