module github.com/harena-project/harena/bench/go

go 1.26.0

replace (
	github.com/harena-project/harena/go => ../../go
	github.com/harena-project/harena/go/adapters/connectgo => ../../go/adapters/connectgo
	github.com/harena-project/harena/go/adapters/grpcgo => ../../go/adapters/grpcgo
	github.com/harena-project/harena/go/pb => ../../go/pb
)

require (
	buf.build/go/hyperpb v0.1.3
	github.com/harena-project/harena/go v0.0.0-00010101000000-000000000000
	github.com/harena-project/harena/go/adapters/grpcgo v0.0.0-00010101000000-000000000000
	github.com/harena-project/harena/go/pb v0.0.0-00010101000000-000000000000
	github.com/planetscale/vtprotobuf v0.6.1-0.20240319094008-0393e58bdf10
	golang.org/x/sys v0.48.0
	google.golang.org/grpc v1.85.0
	google.golang.org/protobuf v1.36.12
)

require (
	github.com/aclements/go-moremath v0.0.0-20210112150236-f10218a38794 // indirect
	github.com/davecgh/go-spew v1.1.1 // indirect
	github.com/pmezard/go-difflib v1.0.0 // indirect
	github.com/stretchr/testify v1.10.0 // indirect
	github.com/timandy/routine v1.1.5 // indirect
	golang.org/x/net v0.60.0 // indirect
	golang.org/x/perf v0.0.0-20260908200009-22c9c6c9d4da // indirect
	golang.org/x/text v0.42.0 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20260817212433-ac3dfec99bb1 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
)

tool golang.org/x/perf/cmd/benchstat
