// The program that make bench-go runs over and over, once per cell and round.
//
//	bench-go list                        all cells as JSON
//	bench-go run [-seconds S] CELL       measures one cell; prints JSON
//	bench-go load -port N ...            drives a demo server on grpc-go; see package load
//	bench-go versions                    versions of what is measured as JSON
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/harena-project/harena/bench/go/cells"
	"github.com/harena-project/harena/bench/go/cells/alloc"
	"github.com/harena-project/harena/bench/go/cells/codec"
	"github.com/harena-project/harena/bench/go/load"
	"github.com/harena-project/harena/bench/go/process"
	"github.com/harena-project/harena/bench/go/workloads"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "bench-go: %v\n", err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	if len(arguments) == 0 {
		return fmt.Errorf("want one of: list, run, load, versions")
	}
	switch arguments[0] {
	case "list":
		return list()
	case "run":
		return measure(arguments[1:])
	case "load":
		return load.Drive(arguments[1:], load.DialGRPC)
	case "versions":
		return say(process.Versions())
	}
	return fmt.Errorf("no command %q; want one of: list, run, load, versions", arguments[0])
}

func say(what any) error { return json.NewEncoder(os.Stdout).Encode(what) }

func allCells() ([]cells.Cell, error) {
	testdata, err := workloads.FindTestdata()
	if err != nil {
		return nil, err
	}
	return append(alloc.Cells(), codec.Cells(testdata)...), nil
}

func list() error {
	all, err := allCells()
	if err != nil {
		return err
	}
	type entry struct {
		Group   string `json:"group"`
		Row     string `json:"row"`
		Unit    string `json:"unit"`
		Units   int    `json:"units"`
		Missing string `json:"missing"`
	}
	var entries []entry
	for _, c := range all {
		entries = append(entries, entry{c.Group, c.Row, c.Unit, c.Units, c.Missing})
	}
	return say(entries)
}

func measure(arguments []string) error {
	flags := flag.NewFlagSet("run", flag.ContinueOnError)
	seconds := flags.Float64("seconds", 0.3, "how long to measure")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	all, err := allCells()
	if err != nil {
		return err
	}
	for _, c := range all {
		if c.Name() == flags.Arg(0) {
			result, err := cells.Measure(&c, time.Duration(*seconds*float64(time.Second)))
			if err != nil {
				return err
			}
			return say(result)
		}
	}
	return fmt.Errorf("no cell %q; see bench-go list", flags.Arg(0))
}
