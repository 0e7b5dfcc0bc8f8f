package load

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/harena-project/harena/bench/go/process"
	"github.com/harena-project/harena/bench/go/workloads"
)

// Drive is a program's command: it warms a demo server up, prints a line, waits for one on its standard
// input, loads the server and prints the report. Whoever starts it can read the server's counts right
// before and right after. dial returns what calls the server on a loopback port.
func Drive(arguments []string, dial func(port int) (Caller, error)) error {
	flags := flag.NewFlagSet("load", flag.ContinueOnError)
	port := flags.Int("port", 0, "the server's loopback port")
	core := flags.Int("cpu", -1, "core to run on; -1 for any")
	name := flags.String("workload", "ranking_200k", "what to send")
	qps := flags.Float64("qps", 0, "requests per second; 0 sends one after the other")
	seconds := flags.Float64("seconds", 1, "how long")
	warmUp := flags.Float64("warm-up", 0.2, "how long to send one after the other before")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	if *core >= 0 {
		if err := process.PinTo(*core); err != nil {
			return err
		}
	}
	runtime.GOMAXPROCS(2) // also on one core: one of the two sleeps until the next request is due
	testdata, err := workloads.FindTestdata()
	if err != nil {
		return err
	}
	workload, err := workloads.Load(*name, testdata)
	if err != nil {
		return err
	}
	caller, err := dial(*port)
	if err != nil {
		return err
	}
	l, err := New(caller, workload)
	if err != nil {
		return err
	}
	warm := l.Closed(time.Duration(*warmUp * float64(time.Second)))
	if warm.Errors > 0 {
		return fmt.Errorf("warming up: %s", warm.FirstError)
	}
	if err := say(map[string]int{"warm_up_requests": warm.Requests + len(workload.Requests)}); err != nil {
		return err
	}
	if !bufio.NewScanner(os.Stdin).Scan() {
		return fmt.Errorf("standard input closed before the load began")
	}
	duration := time.Duration(*seconds * float64(time.Second))
	if *qps > 0 {
		return say(l.Open(*qps, duration))
	}
	return say(l.Closed(duration))
}

func say(what any) error { return json.NewEncoder(os.Stdout).Encode(what) }
