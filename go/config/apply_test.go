package config

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/harena-project/harena/go/scope"
)

// serve publishes methods as an adapter does. They are gone when the test is.
func serve(t testing.TB, options scope.Options, names ...string) *scope.Group {
	t.Helper()
	group, err := scope.NewGroup(names, options, nil)
	if err != nil {
		t.Fatal(err)
	}
	group.Publish("test")
	t.Cleanup(func() {
		runtime.KeepAlive(group)
		group = nil
		runtime.GC()
	})
	return group
}

func parse(t testing.TB, text string) *Config {
	t.Helper()
	c, err := Parse("harena.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func optionsOf(group *scope.Group, name string) scope.Options { return group.Pool(name).Options() }

func TestApplyLaysSettingsOverTheCode(t *testing.T) {
	group := serve(t, scope.Options{RequestBytesMax: 1 << 20, DepthMax: 10}, "/a.S/One", "/a.S/Two")
	var applier Applier
	if err := applier.Apply(parse(t, `
version: 1
defaults: {depth_max: 20}
methods: {/a.S/Two: {request_bytes_max: 2MiB, decoded_ratio_max: 1.5, decoded_floor_bytes: 4KiB}}
`)); err != nil {
		t.Fatal(err)
	}
	if got, want := optionsOf(group, "/a.S/One"), (scope.Options{RequestBytesMax: 1 << 20, DepthMax: 20}); got != want {
		t.Errorf("got %+v; want %+v", got, want)
	}
	want := scope.Options{RequestBytesMax: 2 << 20, DepthMax: 20, DecodedRatioMax: 1.5, DecodedFloorBytes: 4 << 10}
	if got := optionsOf(group, "/a.S/Two"); got != want {
		t.Errorf("got %+v; want %+v", got, want)
	}
}

func TestASettingThatIsGoneBecomesTheCodesAgain(t *testing.T) {
	group := serve(t, scope.Options{DepthMax: 10}, "/b.S/One")
	budget := scope.ProcessBudget()
	budget.SetBytesMax(5 << 30)
	t.Cleanup(func() { budget.SetBytesMax(0) })
	var applier Applier
	for _, text := range []string{
		"version: 1\nprocess_bytes_max: 1GiB\ndefaults: {mode: heap, depth_max: unlimited}",
		"version: 1",
	} {
		if err := applier.Apply(parse(t, text)); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(text, "heap") {
			if got := optionsOf(group, "/b.S/One"); got.Mode != scope.Heap || budget.BytesMax() != 1<<30 {
				t.Errorf("the settings are not in force: %+v, %d", got, budget.BytesMax())
			}
		}
	}
	if got := optionsOf(group, "/b.S/One"); got != (scope.Options{DepthMax: 10}) || budget.BytesMax() != 5<<30 {
		t.Errorf("got %+v, process_bytes_max %d; want what the code had", got, budget.BytesMax())
	}
}

// Settings that the file never had are others' to change.
func TestApplyLeavesAloneWhatTheFileDoesNotName(t *testing.T) {
	group := serve(t, scope.Options{}, "/c.S/One")
	var applier Applier
	for _, text := range []string{"version: 1\ndefaults: {depth_max: 20}", "version: 1\ndefaults: {depth_max: 30}"} {
		if err := applier.Apply(parse(t, text)); err != nil {
			t.Fatal(err)
		}
		if err := group.SetRequestBytesMax("", 7<<20); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := optionsOf(group, "/c.S/One"), (scope.Options{RequestBytesMax: 7 << 20, DepthMax: 30}); got != want {
		t.Errorf("got %+v; want %+v", got, want)
	}
}

// One method of one server that cannot have its settings keeps all methods of all servers as they are.
func TestApplyChangesAllOrNothing(t *testing.T) {
	first := serve(t, scope.Options{}, "/d.S/One")
	second := serve(t, scope.Options{Mode: scope.Heap}, "/d.S/Two", "/d.S/Three")
	budget := scope.ProcessBudget().BytesMax()
	var applier Applier
	err := applier.Apply(parse(t, `version: 1
process_bytes_max: 1GiB
defaults: {depth_max: 20, mode: codec}
methods:
  /d.S/Two: {depth_max: unlimited, quarantine_one_in: 7}
`))
	want := "harena.yaml:5:55: /d.S/Two: quarantine_one_in is 0 since the server was made and cannot change while it runs; " +
		"restart it with this file, or write 0"
	if err == nil || err.Error() != want {
		t.Errorf("the error is %v; want %s", err, want)
	}
	err = applier.Apply(parse(t, "version: 1\ndefaults: {depth_max: 20}"))
	want = "harena.yaml:2:23: /d.S/Two: mode heap cannot hold a limit; " +
		"set RequestBytesMax, DecodedRatioMax and DepthMax to 0, or use mode codec"
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("the error is %v; want %s", err, want)
	}
	for _, m := range append(first.Methods(), second.Methods()...) {
		if m.Options.DepthMax != 0 || (m.Options.Mode == scope.Heap) != (m.Name != "/d.S/One") {
			t.Errorf("%s has changed: %+v", m.Name, m.Options)
		}
	}
	if got := scope.ProcessBudget().BytesMax(); got != budget {
		t.Errorf("process_bytes_max has changed to %d", got)
	}
}

func TestWhatIsFixedIsRefusedWithItsLine(t *testing.T) {
	group := serve(t, scope.Options{QuarantineOneIn: 500}, "/e.S/One")
	var applier Applier
	if err := applier.Apply(parse(t, "version: 1\ndefaults: {quarantine_one_in: 500, depth_max: 9}")); err != nil {
		t.Errorf("the same value is refused: %v", err)
	}
	err := applier.Apply(parse(t, "version: 1\ndefaults:\n  quarantine_one_in: 100\n  depth_max: 10"))
	if err == nil || !strings.HasPrefix(err.Error(), "harena.yaml:3:22: /e.S/One: quarantine_one_in is 500") {
		t.Errorf("the error is %v", err)
	}
	if got := optionsOf(group, "/e.S/One").DepthMax; got != 9 {
		t.Errorf("DepthMax is %d; want the 9 of before", got)
	}
}

func TestModesThatGoDoesNotHaveAreRefused(t *testing.T) {
	c := parse(t, "version: 1\ndefaults: {mode: codec}\nmethods:\n  /f.S/One: {mode: reuse}")
	want := "harena.yaml:4:20: mode reuse is for C++ alone; Go has codec and heap"
	var applier Applier
	if err := applier.Apply(c); err == nil || err.Error() != want {
		t.Errorf("the error is %v; want %s", err, want)
	}
	if _, err := c.ServiceOptions(scope.ServiceOptions{}, "/f.S/One"); err == nil {
		t.Error("ServiceOptions takes it")
	}
}

func TestMethodsThatAreRegisteredLaterGetTheirs(t *testing.T) {
	var applier Applier
	if err := applier.ApplyToNew(); err != nil {
		t.Errorf("without settings: %v", err)
	}
	c := parse(t, "version: 1\ndefaults: {depth_max: 20}\nmethods: {/g.S/Late: {quarantine_one_in: 3}}")
	if err := applier.Apply(c); err != nil {
		t.Fatal(err)
	}
	group := serve(t, scope.Options{}, "/g.S/One", "/g.S/Late")
	err := applier.ApplyToNew()
	if err == nil || !strings.Contains(err.Error(), "/g.S/Late: quarantine_one_in") {
		t.Errorf("the error is %v", err)
	}
	if err := applier.ApplyToNew(); err != nil {
		t.Errorf("told twice: %v", err)
	}
	if one, late := optionsOf(group, "/g.S/One").DepthMax, optionsOf(group, "/g.S/Late").DepthMax; one != 20 || late != 0 {
		t.Errorf("DepthMax is %d and %d; want 20 and 0", one, late)
	}
}

func TestServiceOptionsHaveWhatIsFixedToo(t *testing.T) {
	c := parse(t, `version: 1
process_bytes_max: 3GiB
defaults: {quarantine_one_in: 100, depth_max: 20}
methods: {/h.S/Two: {mode: heap, depth_max: unlimited, request_bytes_max: unlimited}}
`)
	code := scope.ServiceOptions{
		RequestBytesMax: 1 << 20,
		StreamScope:     scope.PerStream,
		Methods:         map[string]scope.MethodOptions{"/h.S/One": {DecodedRatioMax: 50}},
	}
	got, err := c.ServiceOptions(code, "/h.S/One", "/h.S/Two", "/h.S/Three")
	if err != nil {
		t.Fatal(err)
	}
	if got.ProcessBytesMax != 3<<30 {
		t.Errorf("ProcessBytesMax is %d", got.ProcessBytesMax)
	}
	for name, want := range map[string]scope.MethodOptions{
		"/h.S/One":   {RequestBytesMax: 1 << 20, DecodedRatioMax: 50, QuarantineOneIn: 100, DepthMax: 20},
		"/h.S/Two":   {Mode: scope.Heap, QuarantineOneIn: 100, StreamScope: scope.PerStream},
		"/h.S/Three": {RequestBytesMax: 1 << 20, QuarantineOneIn: 100, DepthMax: 20, StreamScope: scope.PerStream},
	} {
		if got.Method(name) != want {
			t.Errorf("%s: got %+v; want %+v", name, got.Method(name), want)
		}
	}
	if len(code.Methods) != 1 {
		t.Error("the caller's map has changed")
	}
}

func TestWarningsNameWhatWasMeant(t *testing.T) {
	group := serve(t, scope.Options{}, "/i.Shop/Rank")
	defer runtime.KeepAlive(group)
	c := parse(t, "version: 1\npage_pool: {decay_after: 1s}\nmethods:\n  /i.Shop/Ranc: {}\n  /x.Other/Thing: {first_block_bytes: auto}")
	var lines []string
	for _, w := range c.Warnings() {
		lines = append(lines, w.String())
	}
	want := `harena.yaml:4:3: nothing serves "/i.Shop/Ranc" yet; did you mean "/i.Shop/Rank"?
harena.yaml:5:3: nothing serves "/x.Other/Thing" yet
harena.yaml: Go leaves these settings unread, which are for C++: first_block_bytes, decay_after`
	if got := strings.Join(lines, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Who lists changes is told: before them, after them and whose they are. What changes nothing is none.
func TestApplyChangesInTheNameOfConfig(t *testing.T) {
	group := serve(t, scope.Options{DepthMax: 10}, "/n.S/One")
	type told struct {
		who   string
		depth int
	}
	var seen []told
	t.Cleanup(scope.OnChange(func(who string) {
		seen = append(seen, told{who, optionsOf(group, "/n.S/One").DepthMax})
	}))
	var applier Applier
	if err := errors.Join(applier.Apply(parse(t, "{version: 1, defaults: {depth_max: 20}}")), applier.ApplyToNew()); err != nil {
		t.Fatal(err)
	}
	if want := []told{{"", 10}, {"config", 20}}; !slices.Equal(seen, want) {
		t.Fatalf("got %v; want %v", seen, want)
	}
	second := serve(t, scope.Options{}, "/n.S/Two")
	if err := applier.ApplyToNew(); err != nil {
		t.Fatal(err)
	}
	if optionsOf(second, "/n.S/Two").DepthMax != 20 || len(seen) != 4 || seen[3].who != "config" {
		t.Errorf("got %v", seen)
	}
}

// A file may say mode heap although the code has limits: at once and for a server that is about to be made.
// They are not held then, and are there again when the file says otherwise.
func TestModeHeapOverTheCodesLimits(t *testing.T) {
	code := scope.ServiceOptions{RequestBytesMax: 1 << 20, DepthMax: 30}
	heap, codec := parse(t, "version: 1\ndefaults: {mode: heap}"), parse(t, "version: 1")
	options, err := heap.ServiceOptions(code, "/k.S/One")
	if err != nil {
		t.Fatal(err)
	}
	made, err := options.NewGroup([]string{"/k.S/One"})
	if err != nil {
		t.Fatal(err)
	}
	limited := scope.Options{RequestBytesMax: 1 << 20, DepthMax: 30}
	unheld := limited
	unheld.Mode = scope.Heap
	if got := optionsOf(made, "/k.S/One"); got != unheld {
		t.Errorf("a new server has %+v", got)
	}
	group := serve(t, limited, "/k.S/Two")
	var applier Applier
	for _, step := range []struct {
		config *Config
		want   scope.Options
	}{{heap, unheld}, {codec, limited}} {
		if err := applier.Apply(step.config); err != nil {
			t.Fatal(err)
		}
		if got := optionsOf(group, "/k.S/Two"); got != step.want {
			t.Errorf("got %+v; want %+v", got, step.want)
		}
	}
}
