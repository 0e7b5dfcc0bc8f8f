// Package serving is the process around a demo server: one mode, one core. It prints one line of JSON
// when it is ready, and ends when its standard input closes or on SIGTERM. For each line `usage` on its
// standard input it prints one line of JSON with what it has used so far.
package serving

import (
	"bufio"
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
	Modes     []string
	NewServer func(mode string, impl benchpb.DemoServiceServer, requestBytesMax int64) (S, error)
}

// Main is the program: it reads the command line, serves until it is told to end, and exits.
func Main[S Server](framework Framework[S]) {
	mode := flag.String("mode", "heap", "memory mode: "+strings.Join(framework.Modes, ", "))
	core := flag.Int("cpu", -1, "core to run on; -1 for any")
	port := flag.Int("port", 0, "loopback port; 0 for any")
	bytesMax := flag.Int64("request-bytes-max", 0, "most bytes that one request may take in mode codec; 0 for no bound")
	list := flag.Bool("list-modes", false, "print the memory modes, one per line, and end")
	versions := flag.Bool("versions", false, "print the versions of what is measured as JSON, and end")
	flag.Parse()
	switch {
	case *list:
		fmt.Println(strings.Join(framework.Modes, "\n"))
	case *versions:
		_ = json.NewEncoder(os.Stdout).Encode(process.Versions())
	default:
		if err := framework.serve(*mode, *core, *port, *bytesMax); err != nil {
			fmt.Fprintf(os.Stderr, "demo server: %v\n", err)
			os.Exit(1)
		}
	}
}

func (f Framework[S]) serve(mode string, core, port int, bytesMax int64) error {
	if core >= 0 {
		if err := process.PinTo(core); err != nil {
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
	server, err := f.NewServer(mode, impl, bytesMax)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return err
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	end := ended() // before anybody learns that there is something to end
	say(map[string]any{"port": listener.Addr().(*net.TCPAddr).Port, "pid": os.Getpid(), "mode": mode,
		"gomaxprocs": runtime.GOMAXPROCS(0)})
	select {
	case err := <-served:
		return err
	case <-end:
	}
	force := time.AfterFunc(shutdownGrace, server.Stop)
	defer force.Stop()
	server.GracefulStop()
	return <-served
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
