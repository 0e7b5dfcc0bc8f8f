package main

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/harena-project/harena/bench/go/process"
)

const asServer = "HARENA_TEST_AS_DEMO_SERVER"

// TestMain makes this program the server when a test below starts it again.
func TestMain(m *testing.M) {
	if os.Getenv(asServer) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

type server struct {
	command *exec.Cmd
	stdin   io.WriteCloser
	lines   *bufio.Scanner
}

func start(t *testing.T, arguments ...string) *server {
	t.Helper()
	command := exec.Command(os.Args[0], arguments...)
	command.Env = append(os.Environ(), asServer+"=1")
	stdin, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		_ = command.Wait() // it may have been waited for
	})
	return &server{command, stdin, bufio.NewScanner(stdout)}
}

// answer reads one line of JSON.
func (s *server) answer(t *testing.T, into any) {
	t.Helper()
	if !s.lines.Scan() {
		t.Fatalf("the server printed nothing: %v", s.lines.Err())
	}
	if err := json.Unmarshal(s.lines.Bytes(), into); err != nil {
		t.Fatalf("%q: %v", s.lines.Text(), err)
	}
}

type ready struct {
	Port, PID, GoMaxProcs int
	Mode                  string
}

func TestItSaysThatItIsReadyAndEndsWithItsInput(t *testing.T) {
	s := start(t, "-mode", "codec", "-cpu", "0")
	var r ready
	s.answer(t, &r)
	if r.Port == 0 || r.PID != s.command.Process.Pid || r.Mode != "codec" || r.GoMaxProcs != 1 {
		t.Errorf("%+v", r)
	}
	s.stdin.Close()
	if err := s.command.Wait(); err != nil {
		t.Errorf("after its input closed: %v", err)
	}
}

func TestItEndsOnSigterm(t *testing.T) {
	s := start(t)
	s.answer(t, new(ready))
	if err := s.command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := s.command.Wait(); err != nil {
		t.Errorf("after SIGTERM: %v", err)
	}
}

func TestItSaysWhatItHasUsed(t *testing.T) {
	s := start(t)
	s.answer(t, new(ready))
	if _, err := io.WriteString(s.stdin, "usage\n"); err != nil {
		t.Fatal(err)
	}
	var u process.Usage
	s.answer(t, &u)
	if u.CPUSeconds <= 0 || u.Allocations == 0 || u.Bytes == 0 || u.RSSPeakBytes < 1<<20 {
		t.Errorf("%+v", u)
	}
}

func TestAnUnknownModeIsRefused(t *testing.T) {
	command := exec.Command(os.Args[0], "-mode", "magic")
	command.Env = append(os.Environ(), asServer+"=1")
	output, err := command.CombinedOutput()
	if err == nil || !strings.Contains(string(output), "there are heap, vtproto, codec") {
		t.Errorf("%v: %s", err, output)
	}
}
