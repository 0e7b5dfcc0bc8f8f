package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "harena",
		Short: "Check Harena's settings, and look at running servers",
		Long: `harena checks files of settings and reads what the live listener of a server says
(harena.live in C++, package live in Go): as a table, as a recorded profile, and as advice
on what to set.`,
		Example: `  harena config check harena.yaml              is this file in order?
  harena top 127.0.0.1:9090                    the methods of a running server
  harena status 127.0.0.1:9090 -o today.json   record a profile
  harena advise today.json --write new.yaml    what to set, and why
  harena replay capture/ --proto feed.proto    what would my own messages cost?`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(newConfig(), newTop(), newAdvise(), newStatus(), newReplay(), newVersion())
	return root
}

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of this program",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(c.OutOrStdout(), versionText(version))
			return err
		},
	}
}

// version is stamped in by `make cli` and the packages: -ldflags "-X main.version=...".
var version string

// versionText is of the stamped version, or of the module's, which `go install` knows.
func versionText(stamped string) string {
	info, ok := debug.ReadBuildInfo()
	switch {
	case stamped != "":
	case ok && info.Main.Version != "":
		stamped = strings.TrimPrefix(info.Main.Version, "v")
	default:
		stamped = "(unknown version)"
	}
	return fmt.Sprintf("harena %s, built with %s", stamped, runtime.Version())
}
