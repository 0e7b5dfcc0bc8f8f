package soak

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/harena-project/harena/bench/go/process"
	"github.com/harena-project/harena/bench/go/workloads"
)

// Drive is a program's command: it connects to a server, prints a line of JSON when it is ready, and
// then, for each [Order] on its standard input, a [Report]. It ends with its standard input.
func Drive(arguments []string) error {
	frameworks := Frameworks()
	var names []string
	for name := range frameworks {
		names = append(names, name)
	}
	slices.Sort(names)
	flags := flag.NewFlagSet("soak-load", flag.ContinueOnError)
	protocol := flags.String("protocol", "grpc", "the server's protocol: "+strings.Join(names, ", "))
	port := flags.Int("port", 0, "the server's loopback port")
	core := flags.Int("cpu", -1, "core to run on; -1 for any")
	seed := flags.Uint64("seed", 1, "decides what the rude calls are")
	testdata := flags.String("testdata", "", "folder of the real payloads; found where this runs in the source tree")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	framework, known := frameworks[*protocol]
	if !known {
		return fmt.Errorf("no protocol %q; there are %s", *protocol, strings.Join(names, ", "))
	}
	if *core >= 0 {
		if err := process.PinTo(*core); err != nil {
			return err
		}
	}
	// Also on one core: two sleep until a call is due.
	runtime.GOMAXPROCS(3)
	var err error
	if *testdata == "" {
		if *testdata, err = workloads.FindTestdata(); err != nil {
			return err
		}
	}
	s, err := New(framework, *port, *testdata, *seed)
	if err != nil {
		return err
	}
	defer s.Close()
	out := json.NewEncoder(os.Stdout)
	if err := out.Encode(map[string]bool{"ready": true}); err != nil {
		return err
	}
	return serveOrders(s, os.Stdin, out)
}

func serveOrders(s *Soak, in io.Reader, out *json.Encoder) error {
	orders := json.NewDecoder(in)
	for {
		var order Order
		if err := orders.Decode(&order); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("an order: %w", err)
		}
		if order.Seconds <= 0 || order.QPS <= 0 || order.Rude < 0 {
			return fmt.Errorf("an order wants seconds and qps above 0 and rude not below, not %+v", order)
		}
		if err := out.Encode(s.Run(order)); err != nil {
			return err
		}
	}
}
