package live

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/harena-project/harena/go/arena"
	"github.com/harena-project/harena/go/scope"
)

// setting is one value that may change while the server runs: of a method's options, or of the process.
// Values are as in JSON: text, int64, float64, or nil for "no limit".
type setting[T any] struct {
	name string
	get  func(T) any
	// set takes what get returns. parse makes sure of that for what comes from outside.
	set   func(T, any)
	parse func(json.RawMessage) (any, error)
}

var methodSettings = []setting[*scope.Options]{
	{
		name:  "mode",
		get:   func(o *scope.Options) any { return o.Mode.String() },
		set:   func(o *scope.Options, value any) { o.Mode, _ = scope.ParseMode(value.(string)) },
		parse: parseMode,
	},
	{
		name:  "request_bytes_max",
		get:   func(o *scope.Options) any { return orNil(o.RequestBytesMax) },
		set:   func(o *scope.Options, value any) { o.RequestBytesMax = orZero[int64](value) },
		parse: parseWhole("a whole number of bytes, 1 or more, or null for no limit", math.MaxInt64, true),
	},
	{
		name:  "decoded_ratio_max",
		get:   func(o *scope.Options) any { return orNil(o.DecodedRatioMax) },
		set:   func(o *scope.Options, value any) { o.DecodedRatioMax = orZero[float64](value) },
		parse: parseRatio,
	},
	{
		name: "decoded_floor_bytes",
		get: func(o *scope.Options) any {
			if o.DecodedFloorBytes == 0 {
				return int64(scope.DecodedFloorBytesDefault)
			}
			return o.DecodedFloorBytes
		},
		set:   func(o *scope.Options, value any) { o.DecodedFloorBytes = value.(int64) },
		parse: parseWhole("a whole number of bytes, 1 or more", math.MaxInt64, false),
	},
	{
		name: "depth_max",
		get:  func(o *scope.Options) any { return orNil(int64(o.DepthMax)) },
		set:  func(o *scope.Options, value any) { o.DepthMax = int(orZero[int64](value)) },
		parse: parseWhole(fmt.Sprintf("a whole number of levels from 1 to %d, or null for protobuf's own limit", scope.DepthLevelsMax),
			scope.DepthLevelsMax, true),
	},
}

var processSettings = []setting[*arena.Budget]{
	{
		name:  "process_bytes_max",
		get:   func(b *arena.Budget) any { return orNil(b.BytesMax()) },
		set:   func(b *arena.Budget, value any) { b.SetBytesMax(orZero[int64](value)) },
		parse: parseWhole("a whole number of bytes, 1 or more, or null for no limit", math.MaxInt64, true),
	},
}

func find[T any](settings []setting[T], name string) *setting[T] {
	for i := range settings {
		if settings[i].name == name {
			return &settings[i]
		}
	}
	return nil
}

func orNil[N int64 | float64](n N) any {
	if n == 0 {
		return nil
	}
	return n
}

func orZero[N int64 | float64](value any) N {
	n, _ := value.(N)
	return n
}

func parseMode(raw json.RawMessage) (any, error) {
	var name string
	if err := json.Unmarshal(raw, &name); err != nil || name == "" {
		return nil, fmt.Errorf("it is %s; want \"codec\" or \"heap\"", raw)
	}
	if _, err := scope.ParseMode(name); err != nil {
		return nil, fmt.Errorf("it is %s; want \"codec\" or \"heap\"", raw)
	}
	return name, nil
}

func parseWhole(want string, most int64, mayBeNull bool) func(json.RawMessage) (any, error) {
	return func(raw json.RawMessage) (any, error) {
		if string(raw) == "null" && mayBeNull {
			return nil, nil
		}
		var n int64
		if err := json.Unmarshal(raw, &n); err != nil || string(raw) == "null" || n < 1 || n > most {
			return nil, fmt.Errorf("it is %s; want %s", raw, want)
		}
		return n, nil
	}
}

func parseRatio(raw json.RawMessage) (any, error) {
	if string(raw) == "null" {
		return nil, nil
	}
	var ratio float64
	if err := json.Unmarshal(raw, &ratio); err != nil || ratio < 1 {
		return nil, fmt.Errorf("it is %s; want a number, 1 or more, of bytes per byte of the request, or null for no limit", raw)
	}
	return ratio, nil
}

// textOf is a value as the list of changes has it.
func textOf(value any) string {
	if value == nil {
		return "none"
	}
	return fmt.Sprint(value)
}
