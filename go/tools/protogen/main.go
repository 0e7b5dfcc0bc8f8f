// Protogen writes the Go code that this repository keeps checked in for its .proto files.
//
// It compiles the schemas below proto/ itself, because it needs what protoc 3.21 cannot do: editions,
// and the same schema generated twice under two names (see [variant]). What to generate, and where, is
// the table in plan.go. The protoc plugins are programs in -bin.
//
//	protogen -root ../.. -bin ../../build/go-tools           # write
//	protogen -root ../.. -bin ../../build/go-tools -check    # only compare; status 1 if anything is stale
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
)

func main() {
	root := flag.String("root", ".", "the repository")
	bin := flag.String("bin", "", "folder with the protoc plugins")
	check := flag.Bool("check", false, "compare with the checked-in files instead of writing them")
	flag.Parse()
	if err := run(*root, *bin, *check); err != nil {
		fmt.Fprintln(os.Stderr, "protogen:", err)
		os.Exit(1)
	}
}

func run(root, bin string, check bool) error {
	made := tree{}
	for _, u := range plan {
		if err := u.generate(context.Background(), root, bin, made); err != nil {
			return fmt.Errorf("%s: %w", u.dir, err)
		}
	}
	old, err := readTree(root, plan)
	if err != nil {
		return err
	}
	if check {
		return compare(old, made)
	}
	return replace(root, old, made)
}
