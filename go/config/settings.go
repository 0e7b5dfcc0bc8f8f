package config

import "maps"

// Settings are values by the names of their keys. What is not there is as the code has it.
type Settings map[string]Value

// over returns these settings with the others in place of what both have.
func (s Settings) over(others Settings) Settings {
	merged := make(Settings, len(s)+len(others))
	maps.Copy(merged, s)
	maps.Copy(merged, others)
	return merged
}

// only returns those of the settings that have one of the keys.
func (s Settings) only(keys []key) Settings {
	chosen := Settings{}
	for _, k := range keys {
		if v, given := s[k.name]; given {
			chosen[k.name] = v
		}
	}
	return chosen
}

// limitKeys are what mode heap cannot hold.
var limitKeys = []string{RequestBytesMaxKey, DecodedRatioMaxKey, DepthMaxKey}

// check reports settings that cannot be together, as far as one of them is of the section at hand:
// own.
func (s Settings) check(own Settings, found *problems) {
	mode, given := s[ModeKey]
	if !given || mode.Text != "heap" {
		return
	}
	for _, name := range limitKeys {
		limit, given := s[name]
		if !given || limit.Unset {
			continue
		}
		_, modeHere := own[ModeKey]
		_, limitHere := own[name]
		at := limit.Place
		if modeHere {
			at = mode.Place
		} else if !limitHere {
			continue
		}
		found.add(at, "mode heap (%s) cannot hold %s (%s); choose another mode, or write %s: unlimited",
			mode.Place.short(), name, limit.Place.short(), name)
	}
}
