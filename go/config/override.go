package config

import (
	"flag"
	"strings"
)

// Override is a setting that is laid over those of a file: from the environment, or a flag.
type Override struct {
	Source string // "HARENA_MODE", for errors
	Key    string // "mode"
	Text   string
}

// EnvironmentPrefix is what the names of variables begin with: HARENA_REQUEST_BYTES_MAX.
const EnvironmentPrefix = "HARENA_"

// PathVariable names the file.
const PathVariable = EnvironmentPrefix + "CONFIG"

// FromEnvironment returns what the variables say; lookup is [os.LookupEnv]. An empty one says nothing.
func FromEnvironment(lookup func(string) (string, bool)) []Override {
	var all []Override
	for _, k := range allKeys {
		name := EnvironmentPrefix + strings.ToUpper(k.name)
		if text, there := lookup(name); there && text != "" {
			all = append(all, Override{name, k.name, text})
		}
	}
	return all
}

// FromFlags returns what the flags of the set say that [AddFlags] defined and that were given. Other
// flag libraries make their Overrides themselves, from [Keys].
func FromFlags(set *flag.FlagSet) []Override {
	var all []Override
	set.Visit(func(f *flag.Flag) {
		if key, ours := strings.CutPrefix(f.Name, flagPrefix); ours && find(allKeys, key) != nil {
			all = append(all, Override{"-" + f.Name, key, f.Value.String()})
		}
	})
	return all
}

const flagPrefix = "harena."

// AddFlags defines a flag for each setting: -harena.mode and so on.
func AddFlags(set *flag.FlagSet) {
	for _, k := range allKeys {
		set.String(flagPrefix+k.name, "", "`value`: "+k.kind.want+"; wins over the file and the environment")
	}
}

// Keys returns the names of all settings that can be overridden.
func Keys() []string { return names(allKeys) }
