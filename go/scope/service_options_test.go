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
	if got, want := o.Method("/s/own"), (MethodOptions{Mode: Heap, StreamScope: PerMessage}); got != want {
		t.Errorf("a method with settings has %+v", got)
	}
}

func TestGroupOfAService(t *testing.T) {
	names := []string{"/s/a", "/s/b"}
	g, err := ServiceOptions{DepthMax: 3, Methods: map[string]MethodOptions{"/s/b": {RequestBytesMax: 7}}}.NewGroup(names)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := g.Pool("/s/a").Options(), g.Pool("/s/b").Options(); a.DepthMax != 3 || b.DepthMax != 0 || b.RequestBytesMax != 7 {
		t.Errorf("the pools have %+v and %+v", a, b)
	}
	for want, wrong := range map[string]ServiceOptions{
		`no method "/s/c"; known are /s/a, /s/b`: {Methods: map[string]MethodOptions{"/s/c": {}}},
		"RequestBytesMax is -1":                  {RequestBytesMax: -1},
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
