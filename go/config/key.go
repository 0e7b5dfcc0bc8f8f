package config

import (
	"slices"

	"github.com/harena-project/harena/go/scope"
)

// key is one setting of the schema. The rows below are the schema, with docs/configuration.md and
// cpp/harena/config/key.cc.
type key struct {
	name    string
	kind    kind
	cppOnly bool // Go has nothing like it
	fixed   bool // decided when the server is made
}

// Names of settings.
const (
	ModeKey                 = "mode"
	RequestBytesMaxKey      = "request_bytes_max"
	DecodedRatioMaxKey      = "decoded_ratio_max"
	DecodedFloorBytesKey    = "decoded_floor_bytes"
	DepthMaxKey             = "depth_max"
	FirstBlockBytesKey      = "first_block_bytes"
	FirstBlockBytesMaxKey   = "first_block_bytes_max"
	FirstBlockPercentileKey = "first_block_percentile"
	QuarantineOneInKey      = "quarantine_one_in"
	ReuseInstancesMaxKey    = "reuse_instances_max"
	ReuseBytesMaxKey        = "reuse_bytes_max"
	ReuseGrowthMaxKey       = "reuse_growth_max"
	ProcessBytesMaxKey      = "process_bytes_max"
	RetainedBytesMaxKey     = "retained_bytes_max"
	DecayAfterKey           = "decay_after"
)

// Modes are the names of all modes; Go has heap and codec.
var Modes = []string{"heap", "arena", "pages", "reuse", "codec"}

var methodKeys = []key{
	{name: ModeKey, kind: word(Modes...)},
	{name: RequestBytesMaxKey, kind: size("unlimited", 1)},
	{name: DecodedRatioMaxKey, kind: real("unlimited",
		func(x float64) bool { return x >= 1 }, "a number of 1 or more")},
	{name: DecodedFloorBytesKey, kind: size("", 1)},
	{name: DepthMaxKey, kind: count("unlimited", 1, scope.DepthLevelsMax)},
	{name: FirstBlockBytesKey, kind: size("auto", 1), cppOnly: true},
	{name: FirstBlockBytesMaxKey, kind: size("", 1), cppOnly: true},
	{name: FirstBlockPercentileKey, kind: real("",
		func(x float64) bool { return 0 < x && x <= 100 }, "a number above 0 and up to 100"), cppOnly: true},
	{name: QuarantineOneInKey, kind: count("", 0, 1<<32), fixed: true},
	{name: ReuseInstancesMaxKey, kind: count("", 0, 1<<32), cppOnly: true, fixed: true},
	{name: ReuseBytesMaxKey, kind: size("", 1), cppOnly: true, fixed: true},
	{name: ReuseGrowthMaxKey, kind: real("",
		func(x float64) bool { return x > 1 }, "a number above 1"), cppOnly: true, fixed: true},
}

var processKeys = []key{{name: ProcessBytesMaxKey, kind: size("unlimited", 1)}}

var poolKeys = []key{
	{name: RetainedBytesMaxKey, kind: size("", 0), cppOnly: true},
	{name: DecayAfterKey, kind: duration(), cppOnly: true},
}

var allKeys = slices.Concat(methodKeys, processKeys, poolKeys)

func find(keys []key, name string) *key {
	for i := range keys {
		if keys[i].name == name {
			return &keys[i]
		}
	}
	return nil
}

func names(keys []key) []string {
	all := make([]string, len(keys))
	for i, k := range keys {
		all[i] = k.name
	}
	return all
}

// read returns the value of a text, or reports what is wrong with it.
func (k *key) read(text string, at Place, found *problems) (Value, bool) {
	v := Value{Text: text, Place: at}
	switch {
	case text == "":
		found.add(at, "%s has no value; give it one, or leave the key out", k.name)
		return v, false
	case k.kind.unset != "" && text == k.kind.unset:
		v.Unset = true
		return v, true
	case !k.kind.parse(text, &v):
		found.add(at, "%s is %s; write %s", k.name, quote(text), k.kind.want)
		return v, false
	}
	return v, true
}
