package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"
)

// replayFolderVariable names where the replay's files are, for programs that lie elsewhere than beside them.
const replayFolderVariable = "HARENA_REPLAY"

// newReplay hands its arguments on: the program is Python, as the benchmarks are, and compiles C++.
func newReplay() *cobra.Command {
	return &cobra.Command{
		Use:   "replay CAPTURE --proto FILE [-I DIR] [flags]",
		Short: "Measure what your own captured messages cost in every mode, before you change a server",
		Long: `replay takes the .proto files of a service and a directory of captured messages, and runs the message
benchmark on them: every memory mode, every malloc that is there, tables, a report and a verdict.
` + "`harena replay --help`" + ` lists its flags; docs/replay.md says how to capture. It needs python3, a C++
compiler, cmake and an installed libharena, or a checkout with a build of it. The Debian package harena-replay
brings them.`,
		Example:            `  harena replay capture/ --proto feed.proto -I protos --service-method /feed.Feed/Rank --quick`,
		DisableFlagParsing: true,
		RunE: func(c *cobra.Command, arguments []string) error {
			program, err := replayProgram()
			if err != nil {
				return err
			}
			command := exec.CommandContext(c.Context(), "python3", append([]string{program}, arguments...)...)
			command.Stdin, command.Stdout, command.Stderr = c.InOrStdin(), c.OutOrStdout(), c.ErrOrStderr()
			return command.Run()
		},
	}
}

// replayProgram is in share/harena beside the folder of this program, or in a checkout.
func replayProgram() (string, error) {
	var folders []string
	if folder := os.Getenv(replayFolderVariable); folder != "" {
		folders = append(folders, folder)
	} else if self, err := os.Executable(); err == nil {
		if resolved, err := filepath.EvalSymlinks(self); err == nil {
			self = resolved
		}
		beside := filepath.Dir(filepath.Dir(self))
		folders = append(folders, filepath.Join(beside, "share", "harena", "replay"), beside)
	}
	for _, folder := range folders {
		program := filepath.Join(folder, "bench", "replay", "run.py")
		if _, err := os.Stat(program); err == nil {
			return program, nil
		}
	}
	return "", fmt.Errorf("the replay's files are not here: install the package harena-replay, or Harena "+
		"with its component tools, or set %s to a checkout of Harena (looked in %q)", replayFolderVariable, folders)
}
