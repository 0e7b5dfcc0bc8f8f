package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"github.com/harena-project/harena/go/cmd/harena/internal/advise"
	"github.com/harena-project/harena/go/cmd/harena/internal/status"
	"github.com/harena-project/harena/go/cmd/harena/internal/top"
	"github.com/harena-project/harena/go/config"
)

func newTop() *cobra.Command {
	var once bool
	var interval time.Duration
	view := top.View{SortBy: "req/s"}
	command := &cobra.Command{
		Use:   "top ADDR",
		Short: "Show the methods of a running server, kept up to date",
		Long: `top shows the methods of the server whose live listener is at ADDR: mode, rate, what one
request takes, its limit, and what was refused. Where a token is needed it comes from
` + status.TokenVariable + `.

Keys: s and S choose the column to sort by, r turns the order round, / filters by name, up and down
scroll, q ends.`,
		Example: `  harena top 127.0.0.1:9090
  harena top 127.0.0.1:9090 --once --sort refused | head`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, arguments []string) error {
			if !slices.Contains(top.Columns(), view.SortBy) {
				return fmt.Errorf("--sort is %q; it may be %s", view.SortBy, strings.Join(top.Columns(), ", "))
			}
			if interval < 100*time.Millisecond {
				return errors.New("--interval is too short; at least 100ms")
			}
			server, err := status.NewServer(arguments[0])
			if err != nil {
				return err
			}
			if !once {
				screen, isFile := c.OutOrStdout().(*os.File)
				if !isFile || !term.IsTerminal(screen.Fd()) {
					return errors.New("there is no terminal to show the methods on; --once prints them once, as plain text")
				}
				return top.Run(c.Context(), server, interval, view)
			}
			// Two answers, as a rate needs them.
			before, err := server.Status(c.Context())
			if err != nil {
				return err
			}
			select {
			case <-c.Context().Done():
				return c.Context().Err()
			case <-time.After(interval):
			}
			now, err := server.Status(c.Context())
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(c.OutOrStdout(), top.Once(&before, now, view))
			return err
		},
	}
	command.Flags().BoolVar(&once, "once", false, "print the table once, as plain text, and end")
	command.Flags().DurationVar(&interval, "interval", time.Second, "time between two looks")
	command.Flags().StringVar(&view.SortBy, "sort", view.SortBy, "`column` to sort by: "+strings.Join(top.Columns(), ", "))
	command.Flags().BoolVar(&view.Reverse, "reverse", false, "turn the order round")
	command.Flags().StringVar(&view.Filter, "filter", "", "only methods with this `part` in their name")
	return command
}

func newStatus() *cobra.Command {
	var path string
	command := &cobra.Command{
		Use:   "status ADDR",
		Short: "Record what a running server says of itself, as JSON",
		Long: `status writes the status and the last minutes' timeline of the server whose live listener is at
ADDR. ` + "`harena advise`" + ` reads such files. They hold counts, settings and the names of methods; no message.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, arguments []string) error {
			server, err := status.NewServer(arguments[0])
			if err != nil {
				return err
			}
			data, err := server.Record(c.Context())
			if err != nil {
				return err
			}
			if path == "" {
				_, err = c.OutOrStdout().Write(data)
				return err
			}
			return os.WriteFile(path, data, 0o600)
		},
	}
	command.Flags().StringVarP(&path, "output", "o", "", "write to this `file` instead of standard output")
	return command
}

func newAdvise() *cobra.Command {
	var path string
	var force, asJSON bool
	command := &cobra.Command{
		Use:   "advise ADDR|FILE",
		Short: "Say what to set for which method, with the evidence and the expected saving",
		Long: `advise looks at a running server's profile, or at one that ` + "`harena status`" + ` recorded, and says per
method which settings to change, what was measured, and what the change should save, in numbers that
can be looked up again afterwards. Methods with fewer than ` + fmt.Sprint(advise.RequestsMin) + ` requests get no advice.
docs/advisor.md explains the rules.`,
		Example: `  harena advise 127.0.0.1:9090
  harena advise today.json --write harena.yaml`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, arguments []string) error {
			profile, err := status.Read(c.Context(), arguments[0])
			if err != nil {
				return err
			}
			report := advise.Advise(profile)
			if asJSON {
				encoder := json.NewEncoder(c.OutOrStdout())
				encoder.SetIndent("", "  ")
				if err := encoder.Encode(report); err != nil {
					return err
				}
			} else {
				fmt.Fprint(c.OutOrStdout(), report.Text())
			}
			if path == "" {
				return nil
			}
			if !report.HasSettings() {
				fmt.Fprintf(c.ErrOrStderr(), "no setting is advised: nothing is written to %s\n", path)
				return nil
			}
			return write(c, path, report.File(arguments[0]), force)
		},
	}
	command.Flags().StringVar(&path, "write", "", "write a `file` of settings with the advice")
	command.Flags().BoolVar(&asJSON, "json", false, "print the advice as JSON, for scripts")
	command.Flags().BoolVar(&force, "force", false, "with --write: replace a file that is there")
	return command
}

func write(c *cobra.Command, path, text string, force bool) error {
	if _, err := config.Parse(path, []byte(text)); err != nil {
		return fmt.Errorf("the advice makes no valid file; the profile is not of Harena? %w", err)
	}
	flags := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	if !force {
		flags |= os.O_EXCL
	}
	file, err := os.OpenFile(path, flags, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already; --force replaces it", path)
	}
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	fmt.Fprintf(c.ErrOrStderr(), "written to %s\n", path) // standard output may be JSON
	return nil
}
