// Command harena checks files of settings, and reads what running servers say of themselves.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(runWith(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// Exit codes.
const (
	exitFine    = 0
	exitProblem = 1 // what was looked at is not in order
	exitUsage   = 2 // it could not be looked at
)

// problem is an outcome that is told already, or by its text.
type problem struct {
	told bool
	text string
}

func (p problem) Error() string { return p.text }

func runWith(ctx context.Context, arguments []string, in io.Reader, out, wrong io.Writer) int {
	root := newRoot()
	root.SetArgs(arguments)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(wrong)
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()
	refuseUnknown(root)
	err := root.ExecuteContext(ctx)
	var found problem
	var ended *exec.ExitError
	switch {
	case err == nil:
		return exitFine
	case errors.As(err, &ended): // another program, which has said why
		return ended.ExitCode()
	case errors.As(err, &found):
		if !found.told {
			fmt.Fprintln(wrong, "harena: "+found.text)
		}
		return exitProblem
	}
	fmt.Fprintln(wrong, "harena: "+err.Error())
	return exitUsage
}
