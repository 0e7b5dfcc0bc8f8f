package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/harena-project/harena/go/config"
)

func newConfig() *cobra.Command {
	parent := &cobra.Command{Use: "config", Short: "Work with files of settings"}
	parent.AddCommand(newConfigCheck())
	return parent
}

// checked is what `config check --json` says.
type checked struct {
	File     string    `json:"file"`
	Valid    bool      `json:"valid"`
	Problems []finding `json:"problems"`
	Warnings []finding `json:"warnings"`
}

type finding struct {
	Source string `json:"source"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	Reason string `json:"reason"`
}

func newConfigCheck() *cobra.Command {
	var asJSON, environment bool
	var language string
	command := &cobra.Command{
		Use:   "check FILE",
		Short: "Say what is wrong with a file of settings, by line and column",
		Long: `check reads a file of settings as a server would, without one. Each problem is a line
  FILE:LINE:COLUMN: REASON
"-" reads standard input. Whether a server serves the methods that the file names, and
whether it was made with the settings that cannot change while it runs, only that server knows.

The exit code is 0 when the file is in order, 1 when it is not, 2 when it cannot be read.`,
		Example: `  harena config check harena.yaml
  harena config check harena.yaml --language go   also: what a Go server cannot do of it
  HARENA_MODE=heap harena config check harena.yaml --environment`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, arguments []string) error {
			if language != "" && language != "go" && language != "c++" {
				return fmt.Errorf("--language is %q; it may be go or c++", language)
			}
			settings, err := read(c, arguments[0])
			if err == nil && environment {
				settings, err = settings.With(config.FromEnvironment(os.LookupEnv)...)
			}
			if err == nil && language == "go" {
				err = settings.CheckGo()
			}
			var wrong *config.Error
			if err != nil && !errors.As(err, &wrong) {
				return err
			}
			result := checked{File: arguments[0], Valid: err == nil, Problems: []finding{}, Warnings: []finding{}}
			if wrong != nil {
				for _, p := range wrong.Problems {
					result.Problems = append(result.Problems, finding{p.Place.Source, p.Place.Line, p.Place.Column, p.Reason})
				}
			} else if language == "go" {
				for _, key := range settings.ForCpp() {
					result.Warnings = append(result.Warnings, finding{Source: arguments[0], Reason: key + " is for C++; Go leaves it unread"})
				}
			}
			if err := result.tell(c, asJSON); err != nil {
				return err
			}
			if !result.Valid {
				return problem{told: true}
			}
			return nil
		},
	}
	command.Flags().BoolVar(&asJSON, "json", false, "print the outcome as JSON")
	command.Flags().BoolVar(&environment, "environment", false, "lay the environment's HARENA_ variables over the file")
	command.Flags().StringVar(&language, "language", "", "also check for servers in `go|c++`")
	return command
}

func read(c *cobra.Command, path string) (*config.Config, error) {
	if path != "-" {
		return config.Load(path)
	}
	data, err := io.ReadAll(io.LimitReader(c.InOrStdin(), config.FileBytesMax+1))
	if err != nil {
		return nil, err
	}
	return config.Parse("-", data)
}

func (r checked) tell(c *cobra.Command, asJSON bool) error {
	if asJSON {
		encoder := json.NewEncoder(c.OutOrStdout())
		encoder.SetIndent("", "  ")
		return encoder.Encode(r)
	}
	for _, f := range r.Problems {
		place := config.Place{Source: f.Source, Line: f.Line, Column: f.Column}
		fmt.Fprintln(c.OutOrStdout(), config.Problem{Place: place, Reason: f.Reason})
	}
	for _, f := range r.Warnings {
		fmt.Fprintf(c.OutOrStdout(), "%s: warning: %s\n", f.Source, f.Reason)
	}
	if r.Valid {
		fmt.Fprintf(c.OutOrStdout(), "%s: in order\n", r.File)
	}
	return nil
}
