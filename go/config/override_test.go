package config

import (
	"flag"
	"testing"
)

func TestFlagsWinOverTheEnvironment(t *testing.T) {
	set := flag.NewFlagSet("server", flag.ContinueOnError)
	AddFlags(set)
	if err := set.Parse([]string{"-harena.mode=heap", "-harena.depth_max", "unlimited"}); err != nil {
		t.Fatal(err)
	}
	environment := FromEnvironment(func(name string) (string, bool) {
		text, there := map[string]string{"HARENA_MODE": "codec", "HARENA_DEPTH_MAX": "5"}[name]
		return text, there
	})
	c, err := (*Config)(nil).With(append(environment, FromFlags(set)...)...)
	if err != nil {
		t.Fatal(err)
	}
	settings := c.For("/a.S/One")
	if mode := settings[ModeKey]; mode.Text != "heap" || mode.Place.String() != "-harena.mode" || !settings[DepthMaxKey].Unset {
		t.Errorf("got %+v", settings)
	}
}

func TestUnknownOverridesAreRefused(t *testing.T) {
	_, err := (*Config)(nil).With(Override{"--set", "mod", "heap"})
	if want := `--set: unknown setting "mod"; did you mean mode?`; err == nil || err.Error() != want {
		t.Errorf("the error is %v; want %s", err, want)
	}
}
