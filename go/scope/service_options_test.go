package scope

import (
	"strings"
	"testing"
)

func TestMethodHasTheServicesSettingsOrItsOwn(t *testing.T) {
	o := ServiceOptions{
		RequestBytesMax: 10, DepthMax: 3, StreamScope: PerStream,
		Methods: map[string]MethodOptions{"/s/own": {Mode: Heap, StreamScope: PerMessage}},
	}
	if got, want := o.Method("/s/other"), (MethodOptions{RequestBytesMax: 10, DepthMax: 3, StreamScope: PerStream}); got != want {
		t.Errorf("a method without settings has %+v", got)
	}
	if got, want := o.Method("/s/own"), (MethodOptions{Mode: Heap, RequestBytesMax: 10, DepthMax: 3, StreamScope: PerMessage}); got != want {
		t.Errorf("a method with settings has %+v", got)
	}
}

// A method has the service's limits, but for those that it names.
func TestMethodInheritsLimits(t *testing.T) {
	o := ServiceOptions{
		RequestBytesMax: 10, DecodedRatioMax: 20, DecodedFloorBytes: 30, DepthMax: 40, QuarantineOneIn: 50, StreamScope: PerStream,
		Methods: map[string]MethodOptions{
			"/s/none":  {},
			"/s/depth": {DepthMax: 4},
			"/s/lifts": {RequestBytesMax: NoLimit, DecodedRatioMax: NoLimit, DepthMax: NoLimit},
			"/s/all":   {RequestBytesMax: 1, DecodedRatioMax: 2, DecodedFloorBytes: 3, DepthMax: 4, QuarantineOneIn: 5},
		},
	}
	for name, want := range map[string]Options{
		"/s/none":  {RequestBytesMax: 10, DecodedRatioMax: 20, DecodedFloorBytes: 30, DepthMax: 40},
		"/s/depth": {RequestBytesMax: 10, DecodedRatioMax: 20, DecodedFloorBytes: 30, DepthMax: 4},
		"/s/lifts": {DecodedFloorBytes: 30},
		"/s/all":   {RequestBytesMax: 1, DecodedRatioMax: 2, DecodedFloorBytes: 3, DepthMax: 4, QuarantineOneIn: 5},
	} {
		g, err := o.NewGroup([]string{"/s/none", "/s/depth", "/s/lifts", "/s/all"})
		if err != nil {
			t.Fatal(err)
		}
		if got := g.Pool(name).Options(); got != want {
			t.Errorf("%s has %+v, want %+v", name, got, want)
		}
	}
}

func TestGroupOfAService(t *testing.T) {
	names := []string{"/s/a", "/s/b"}
	g, err := ServiceOptions{DepthMax: 3, Methods: map[string]MethodOptions{"/s/b": {RequestBytesMax: 7}}}.NewGroup(names)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := g.Pool("/s/a").Options(), g.Pool("/s/b").Options(); a.DepthMax != 3 || b.DepthMax != 3 || b.RequestBytesMax != 7 {
		t.Errorf("the pools have %+v and %+v", a, b)
	}
	for want, wrong := range map[string]ServiceOptions{
		`no method "/s/c"; known are /s/a, /s/b`: {Methods: map[string]MethodOptions{"/s/c": {}}},
		"RequestBytesMax is -1":                  {RequestBytesMax: -1},
		"/s/a: harena/scope: DepthMax is -2":     {Methods: map[string]MethodOptions{"/s/a": {DepthMax: -2}}},
		"mode heap cannot hold a limit":          {Mode: Heap, DepthMax: 3},
		"/s/a: harena/scope: mode heap cannot":   {Methods: map[string]MethodOptions{"/s/a": {Mode: Heap, RequestBytesMax: 3}}},
		"/s/b: harena/scope: StreamScope(9)":     {Methods: map[string]MethodOptions{"/s/b": {StreamScope: 9}}},
	} {
		if _, err := wrong.NewGroup(names); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("NewGroup(%+v): %v, want %q", wrong, err, want)
		}
	}
}

func TestValidateOfAMethod(t *testing.T) {
	if err := (MethodOptions{RequestBytesMax: 1, DepthMax: 100, StreamScope: PerStream}).Validate(); err != nil {
		t.Error(err)
	}
	for _, wrong := range []MethodOptions{{StreamScope: 9}, {DepthMax: 101}, {Mode: Heap, DepthMax: 1}} {
		if wrong.Validate() == nil {
			t.Errorf("%+v passes for valid", wrong)
		}
	}
}
