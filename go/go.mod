module github.com/harena-project/harena/go

go 1.25.0
