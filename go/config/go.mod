module github.com/harena-project/harena/go/config

go 1.26.0

replace github.com/harena-project/harena/go => ../

require go.yaml.in/yaml/v4 v4.0.0
