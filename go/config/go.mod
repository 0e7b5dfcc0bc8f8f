module github.com/harena-project/harena/go/config

go 1.26.0

replace github.com/harena-project/harena/go => ../

require (
	github.com/fsnotify/fsnotify v1.10.1
	github.com/harena-project/harena/go v0.0.0-00010101000000-000000000000
	go.yaml.in/yaml/v4 v4.0.0
)

require golang.org/x/sys v0.48.0 // indirect
