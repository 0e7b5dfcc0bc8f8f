// Drives a demo server with honest and rude callers, as it is told on its standard input; package soak
// says how.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/harena-project/harena/bench/go/soak"
	"github.com/harena-project/harena/bench/go/trpcdemo"
)

func main() {
	trpcdemo.Quiet()
	if err := soak.Drive(os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintf(os.Stderr, "soak-load: %v\n", err)
		os.Exit(1)
	}
}
