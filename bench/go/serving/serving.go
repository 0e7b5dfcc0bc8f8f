// Package serving is the process around a demo server: one mode, one core. It prints one line of JSON
// when it is ready, and ends when its standard input closes or on SIGTERM. For each line `usage` on its
// standard input it prints one line of JSON with what it has used so far, and at its end, when it was
// asked for that, one with what Harena counted.
package serving

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/harena-project/harena/bench/go/demo"
	"github.com/harena-project/harena/bench/go/gen/vt/benchpb"
	"github.com/harena-project/harena/bench/go/process"
	"github.com/harena-project/harena/go/config"
	"github.com/harena-project/harena/go/live"
	"github.com/harena-project/harena/go/scope"
)

const shutdownGrace = 5 * time.Second

// Server is a server of any framework. *grpc.Server is one.
type Server interface {
	// Serve answers until the server is stopped.
	Serve(net.Listener) error
	// GracefulStop waits for the calls that are running, Stop does not.
	GracefulStop()
	Stop()
}

// Framework is what a program serves with.
type Framework[S Server] struct {
	// Modes are the names that NewServer knows, the baseline first.
	Modes []string
	// NewServer returns a server in a mode; the options but their Mode count in mode codec alone.
	NewServer func(mode string, impl benchpb.DemoServiceServer, options scope.ServiceOptions) (S, demo.Methods, error)
}

// settings are what the command line says.
type settings struct {
	mode       string
	core, port int
	options    scope.ServiceOptions
	counts     bool
	live       string
	metrics    string
	config     string
}

// Main is the program: it reads the command line, serves until it is told to end, and exits.
func Main[S Server](framework Framework[S]) {
	var s settings
	flag.StringVar(&s.mode, "mode", "heap", "memory mode: "+strings.Join(framework.Modes, ", "))
	flag.IntVar(&s.core, "cpu", -1, "core to run on; -1 for any")
	flag.IntVar(&s.port, "port", 0, "loopback port; 0 for any")
	flag.Int64Var(&s.options.RequestBytesMax, "request-bytes-max", 0, "most bytes that one request may take in mode codec; 0 for no bound")
	flag.Int64Var(&s.options.ProcessBytesMax, "process-bytes-max", 0, "most bytes that all requests may take together; 0 for no bound")
	flag.Float64Var(&s.options.DecodedRatioMax, "decoded-ratio-max", 0, "most bytes that decoding may take per byte of the request; 0 for no bound")
	flag.IntVar(&s.options.DepthMax, "depth-max", 0, "most levels of messages in a request; 0 for protobuf's own limit")
	flag.IntVar(&s.options.QuarantineOneIn, "quarantine-one-in", 0, "poison the memory of one request in so many; 0 for none")
	flag.BoolVar(&s.counts, "counts", false, "print what Harena counted as JSON at the end")
	flag.StringVar(&s.live, "live", "", "address of the live page, such as 127.0.0.1:9090; port 0 for any")
	flag.StringVar(&s.metrics, "metrics", "", "address for Prometheus, such as 127.0.0.1:9100; port 0 for any")
	flag.StringVar(&s.config, "config", "", "file of settings, watched; wins over -mode and the limits given here")
	list := flag.Bool("list-modes", false, "print the memory modes, one per line, and end")
	versions := flag.Bool("versions", false, "print the versions of what is measured as JSON, and end")
	flag.Parse()
	switch {
	case *list:
		fmt.Println(strings.Join(framework.Modes, "\n"))
	case *versions:
		_ = json.NewEncoder(os.Stdout).Encode(process.Versions())
	default:
		if err := framework.serve(s); err != nil {
			fmt.Fprintf(os.Stderr, "demo server: %v\n", err)
			os.Exit(1)
		}
	}
}

func (f Framework[S]) serve(s settings) error {
	if s.core >= 0 {
		if err := process.PinTo(s.core); err != nil {
			return err
		}
	}
	var impl benchpb.DemoServiceServer = demo.Service{}
	if path := os.Getenv(demo.CountFileVariable); path != "" {
		counted, err := demo.NewCounted(impl, path)
		if err != nil {
			return err
		}
		impl = counted
	}
	server, methods, err := f.NewServer(s.mode, impl, s.options)
	if err != nil {
		return err
	}
	if s.config != "" {
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		watching := config.WatchOptions{Overrides: config.FromEnvironment(os.LookupEnv)}
		if _, err := config.Watch(ctx, s.config, watching); err != nil {
			return err
		}
	}
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", s.port))
	if err != nil {
		return err
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	end := ended() // before anybody learns that there is something to end
	ready := map[string]any{"port": listener.Addr().(*net.TCPAddr).Port, "pid": os.Getpid(), "mode": s.mode,
		"gomaxprocs": runtime.GOMAXPROCS(0)}
	if s.live != "" {
		page, err := live.Listen(s.live, live.Options{})
		if err != nil {
			server.Stop()
			return err
		}
		defer page.Close()
		ready["live"] = page.Addr().String()
	}
	if s.metrics != "" {
		address, end, err := serveMetrics(s.metrics)
		if err != nil {
			server.Stop()
			return err
		}
		defer end()
		ready["metrics"] = address
	}
	say(ready)
	select {
	case err := <-served:
		return err
	case <-end:
	}
	force := time.AfterFunc(shutdownGrace, server.Stop)
	defer force.Stop()
	server.GracefulStop()
	err = <-served
	if s.counts {
		say(countsOf(methods))
	}
	return err
}

// ended returns a channel that closes with standard input or on a signal, and answers meanwhile.
func ended() <-chan struct{} {
	end := make(chan struct{})
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		reader := process.NewReader()
		for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
			if lines.Text() == "usage" {
				say(reader.Usage())
			}
		}
	}()
	go func() {
		defer close(end)
		select {
		case <-signals:
		case <-closed:
		}
	}()
	return end
}

func say(what any) { _ = json.NewEncoder(os.Stdout).Encode(what) }
