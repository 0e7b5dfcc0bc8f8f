// Harena-vet is the analyzer of package vet as a tool for go vet:
//
//	go install github.com/harena-project/harena/go/vet/cmd/harena-vet@latest
//	go vet -vettool=$(which harena-vet) ./...
package main

import (
	"golang.org/x/tools/go/analysis/unitchecker"

	"github.com/harena-project/harena/go/vet"
)

func main() { unitchecker.Main(vet.Analyzer) }
