module github.com/harena-project/harena/bench/go

go 1.26.0

replace (
	github.com/harena-project/harena/go => ../../go
	github.com/harena-project/harena/go/adapters/connectgo => ../../go/adapters/connectgo
	github.com/harena-project/harena/go/adapters/grpcgo => ../../go/adapters/grpcgo
	github.com/harena-project/harena/go/adapters/trpcgo => ../../go/adapters/trpcgo
	github.com/harena-project/harena/go/config => ../../go/config
	github.com/harena-project/harena/go/exporters/promgo => ../../go/exporters/promgo
	github.com/harena-project/harena/go/pb => ../../go/pb
)

require (
	buf.build/go/hyperpb v0.1.3
	connectrpc.com/connect v1.21.1
	github.com/harena-project/harena/go v0.0.0-00010101000000-000000000000
	github.com/harena-project/harena/go/adapters/connectgo v0.0.0-00010101000000-000000000000
	github.com/harena-project/harena/go/adapters/grpcgo v0.0.0-00010101000000-000000000000
	github.com/harena-project/harena/go/adapters/trpcgo v0.0.0-00010101000000-000000000000
	github.com/harena-project/harena/go/config v0.0.0-00010101000000-000000000000
	github.com/harena-project/harena/go/exporters/promgo v0.0.0-00010101000000-000000000000
	github.com/harena-project/harena/go/pb v0.0.0-00010101000000-000000000000
	github.com/planetscale/vtprotobuf v0.6.1-0.20240319094008-0393e58bdf10
	github.com/prometheus/client_golang v1.25.0
	golang.org/x/sys v0.48.0
	google.golang.org/grpc v1.85.0
	google.golang.org/protobuf v1.36.12
	trpc.group/trpc-go/tnet v1.0.1
	trpc.group/trpc-go/trpc-go v1.0.3
)

require (
	github.com/BurntSushi/toml v0.3.1 // indirect
	github.com/aclements/go-moremath v0.0.0-20210112150236-f10218a38794 // indirect
	github.com/andybalholm/brotli v1.0.4 // indirect
	github.com/beorn7/perks v1.0.1 // indirect
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/fsnotify/fsnotify v1.10.1 // indirect
	github.com/golang/snappy v0.0.3 // indirect
	github.com/google/flatbuffers v2.0.0+incompatible // indirect
	github.com/hashicorp/errwrap v1.0.0 // indirect
	github.com/hashicorp/go-multierror v1.1.1 // indirect
	github.com/json-iterator/go v1.1.12 // indirect
	github.com/klauspost/compress v1.20.1 // indirect
	github.com/lestrrat-go/strftime v1.0.6 // indirect
	github.com/modern-go/concurrent v0.0.0-20180306012644-bacd9c7ef1dd // indirect
	github.com/modern-go/reflect2 v1.0.2 // indirect
	github.com/munnerz/goautoneg v0.0.0-20191010083416-a7dc8b61c822 // indirect
	github.com/panjf2000/ants/v2 v2.4.6 // indirect
	github.com/pkg/errors v0.9.1 // indirect
	github.com/prometheus/client_model v0.6.3 // indirect
	github.com/prometheus/common v0.72.0 // indirect
	github.com/prometheus/procfs v0.22.0 // indirect
	github.com/spf13/cast v1.3.1 // indirect
	github.com/stretchr/testify v1.12.1 // indirect
	github.com/timandy/routine v1.1.5 // indirect
	github.com/valyala/bytebufferpool v1.0.0 // indirect
	github.com/valyala/fasthttp v1.43.0 // indirect
	go.uber.org/atomic v1.9.0 // indirect
	go.uber.org/automaxprocs v1.3.0 // indirect
	go.uber.org/multierr v1.6.0 // indirect
	go.uber.org/zap v1.24.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	go.yaml.in/yaml/v4 v4.0.0 // indirect
	golang.org/x/net v0.60.0 // indirect
	golang.org/x/perf v0.0.0-20260908200009-22c9c6c9d4da // indirect
	golang.org/x/sync v0.23.0 // indirect
	golang.org/x/text v0.42.0 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20260817212433-ac3dfec99bb1 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
	trpc.group/trpc/trpc-protocol/pb/go/trpc v1.0.0 // indirect
)

tool golang.org/x/perf/cmd/benchstat
