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
		Version:       versionText(version),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.AddCommand(newConfig(), newTop(), newAdvise(), newStatus(), newReplay(), newVersion())
	return root
}

// refuseUnknown has a command that is only there for its subcommands, and all such below it, refuse
// others than these. By itself cobra does that at the root alone.
func refuseUnknown(c *cobra.Command) {
	for _, sub := range c.Commands() {
		refuseUnknown(sub)
	}
	switch {
	case c.Name() == "help":
		c.Args = func(c *cobra.Command, topic []string) error {
			found, rest, err := c.Root().Find(topic)
			if err != nil || !found.HasSubCommands() {
				return err
			}
			return knownCommand(found, rest)
		}
	case c.HasSubCommands():
		c.Args = knownCommand
		c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
		c.SuggestionsMinimumDistance = 2
		// The flags behind an unknown command are unknown as well; it is the command that is told.
		c.Flags().SetInterspersed(false)
	}
}

// knownCommand refuses an argument, which would be one of the subcommands if there were such a one.
func knownCommand(c *cobra.Command, arguments []string) error {
	if len(arguments) == 0 {
		return nil
	}
	hint := fmt.Sprintf("`%s --help` lists what there is", c.CommandPath())
	if near := c.SuggestionsFor(arguments[0]); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return fmt.Errorf("unknown command %q for %q; %s", arguments[0], c.CommandPath(), hint)
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
