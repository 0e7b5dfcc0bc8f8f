module github.com/harena-project/harena/go/pb

go 1.25.0

replace github.com/harena-project/harena/go => ../

require (
	github.com/harena-project/harena/go v0.0.0-00010101000000-000000000000
	google.golang.org/protobuf v1.36.12
)
