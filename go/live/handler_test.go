package live

import (
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/harena-project/harena/go/arena"
	"github.com/harena-project/harena/go/scope"
)

func TestStatusCountsWhatScopesDo(t *testing.T) {
	handler, group := serveTest(t, Options{})
	s := group.Pool(rank).Get()
	arena.MakeSlice[byte](s.Arena(), 5000, 5000)
	during := methodFrom(t, handler, rank)
	s.End()
	after := methodFrom(t, handler, rank)
	if during.Scopes.Live != 1 || after.Scopes.Live != 0 || after.Requests != 1 || after.Scopes.Ended != 1 {
		t.Errorf("during %+v, after %+v", during.Scopes, after.Scopes)
	}
	if after.Bytes.Max < 5000 || after.Bytes.Sum != after.Bytes.Max {
		t.Errorf("bytes %+v", after.Bytes)
	}
	if after.Bytes.P50 != after.Bytes.Max || after.Bytes.P99 != after.Bytes.Max || after.Bytes.Histogram[3].Count != 1 {
		t.Errorf("one request of %d bytes, p50 %d, histogram %+v", after.Bytes.Max, after.Bytes.P50, after.Bytes.Histogram)
	}
	if other := methodFrom(t, handler, board); other.Requests != 0 {
		t.Errorf("the other method has %d requests", other.Requests)
	}
}

func TestPercentilesAreTheBoundsOfTheirBuckets(t *testing.T) {
	var stats scope.Stats
	stats.BytesUsedMax = 5 << 30
	stats.BytesUsed[0], stats.BytesUsed[4], stats.BytesUsed[21] = 50, 48, 2
	if b := bytesOf(stats); b.P50 != 1<<10 || b.P90 != 16<<10 || b.P99 != 5<<30 || b.Histogram[21].LE != nil {
		t.Errorf("%+v", b)
	}
}

// What was common once, and is no more, is in the maximum and not in the percentiles.
func TestPercentilesFollowTheRecentRequests(t *testing.T) {
	handler, group := serveTest(t, Options{})
	serve := func(requests, bytes int) {
		for range requests {
			s := group.Pool(rank).Get()
			arena.MakeSlice[byte](s.Arena(), bytes, bytes)
			s.End()
		}
	}
	// The pool learns in as many parts as there are processors, up to 16, from what each sees.
	parts := min(2*runtime.GOMAXPROCS(0), 16)
	serve(400*parts, 64<<10)
	if b := methodFrom(t, handler, rank).Bytes; b.P50 < 64<<10 || b.P50 > b.Max {
		t.Errorf("after large ones %+v", b)
	}
	serve(9_400*parts, 1<<10)
	b := methodFrom(t, handler, rank).Bytes
	if b.P50 < 1<<10 || b.P99 > 2<<10 || b.Max < 64<<10 {
		t.Errorf("after small ones p50 %d, p99 %d, max %d", b.P50, b.P99, b.Max)
	}
	if since := b.percentile(99); since < 64<<10 {
		t.Errorf("too few large ones to tell: %d", since)
	}
}

func TestAChangeHoldsForTheNextRequestAndIsListed(t *testing.T) {
	handler, group := serveTest(t, Options{Token: testToken})
	body := fmt.Sprintf(`{"method": %q, "settings": {"request_bytes_max": 1048576, "depth_max": 20}}`, rank)
	got := ask(handler, "POST", "/harena/api/settings", body, withToken)
	if got.Code != http.StatusOK {
		t.Fatalf("%d %s", got.Code, got.Body)
	}
	made := decode[map[string][]change](t, got.Body)["changes"]
	if len(made) != 2 || made[0].Setting != "depth_max" || made[0].From != "none" || made[0].To != "20" ||
		made[1].Setting != "request_bytes_max" || made[1].To != "1048576" || made[1].Who != byPage {
		t.Errorf("changes %+v", made)
	}
	if o := group.Pool(rank).Options(); o.RequestBytesMax != 1<<20 || o.DepthMax != 20 {
		t.Errorf("options %+v", o)
	}
	if o := group.Pool(board).Options(); o.RequestBytesMax != 0 {
		t.Errorf("the other method's options %+v", o)
	}
	if listed := statusFrom(t, handler).Changes; len(listed) != 2 {
		t.Errorf("listed %+v", listed)
	}

	undone := ask(handler, "POST", "/harena/api/undo", fmt.Sprintf(`{"id": %d}`, made[1].ID), withToken)
	if undone.Code != http.StatusOK || group.Pool(rank).Options().RequestBytesMax != 0 || group.Pool(rank).Options().DepthMax != 20 {
		t.Errorf("undo: %d %s, %+v", undone.Code, undone.Body, group.Pool(rank).Options())
	}
	listed := statusFrom(t, handler).Changes
	if len(listed) != 3 || !listed[1].Undone || listed[2].To != "none" {
		t.Errorf("listed after undo %+v", listed)
	}
	again := ask(handler, "POST", "/harena/api/undo", fmt.Sprintf(`{"id": %d}`, made[1].ID), withToken)
	if again.Code != http.StatusBadRequest || !strings.Contains(again.Body.String(), "undone already") {
		t.Errorf("undo again: %d %s", again.Code, again.Body)
	}
}

func TestUndoIsRefusedWhenTheSettingHasChangedSince(t *testing.T) {
	handler, group := serveTest(t, Options{Token: testToken})
	body := fmt.Sprintf(`{"method": %q, "settings": {"depth_max": 100}}`, rank)
	made := decode[map[string][]change](t, ask(handler, "POST", "/harena/api/settings", body, withToken).Body)["changes"]
	if err := group.SetDepthMax(rank, 30); err != nil {
		t.Fatal(err)
	}
	got := ask(handler, "POST", "/harena/api/undo", fmt.Sprintf(`{"id": %d}`, made[0].ID), withToken)
	if got.Code != http.StatusBadRequest || !strings.Contains(got.Body.String(), "is 30 by now") {
		t.Errorf("%d %s", got.Code, got.Body)
	}
	if group.Pool(rank).Options().DepthMax != 30 {
		t.Errorf("depth %d", group.Pool(rank).Options().DepthMax)
	}
}

func TestSettingsOfAllMethodsAndOfTheProcess(t *testing.T) {
	handler, group := serveTest(t, Options{Token: testToken})
	t.Cleanup(func() { scope.ProcessBudget().SetBytesMax(0) })
	got := ask(handler, "POST", "/harena/api/settings",
		`{"method": "", "settings": {"decoded_ratio_max": 200, "process_bytes_max": 1073741824}}`, withToken)
	if got.Code != http.StatusOK {
		t.Fatalf("%d %s", got.Code, got.Body)
	}
	for _, name := range []string{rank, board} {
		if o := group.Pool(name).Options(); o.DecodedRatioMax != 200 {
			t.Errorf("%s: %+v", name, o)
		}
	}
	if s := statusFrom(t, handler); s.Process.BytesMax != float64(1<<30) {
		t.Errorf("process %+v", s.Process)
	}
}

func TestWhatIsWrongIsSaidAndNothingChanges(t *testing.T) {
	handler, group := serveTest(t, Options{Token: testToken})
	if err := group.SetMode(board, scope.Heap); err != nil {
		t.Fatal(err)
	}
	before := group.Methods()
	for name, one := range map[string]struct{ body, reason string }{
		"a method nobody has":       {`{"method": "/x", "settings": {"mode": "heap"}}`, "there are "},
		"a setting nobody has":      {`{"method": "/x", "settings": {"colour": 1}}`, "decoded_ratio_max"},
		"one that is fixed":         {`{"settings": {"quarantine_one_in": 1}}`, "while the server runs"},
		"the process's of a method": {fmt.Sprintf(`{"method": %q, "settings": {"process_bytes_max": 1}}`, rank), "whole process"},
		"a mode nobody has":         {`{"settings": {"mode": "magic"}}`, `want \"codec\" or \"heap\"`},
		"a mode of no type":         {`{"settings": {"mode": null}}`, `want \"codec\"`},
		"a limit of nothing":        {`{"settings": {"request_bytes_max": 0}}`, "1 or more"},
		"a limit below nothing":     {`{"settings": {"request_bytes_max": -1}}`, "1 or more"},
		"half a byte":               {`{"settings": {"request_bytes_max": 1.5}}`, "whole number"},
		"bytes in words":            {`{"settings": {"request_bytes_max": "64MiB"}}`, "whole number"},
		"a ratio below one":         {`{"settings": {"decoded_ratio_max": 0.5}}`, "1 or more"},
		"no floor":                  {`{"settings": {"decoded_floor_bytes": null}}`, "1 or more"},
		"depth beyond numbers":      {`{"settings": {"depth_max": 4294967296}}`, "from 1 to 100"},
		"one level too many":        {`{"settings": {"depth_max": 101}}`, "from 1 to 100"},
		"a limit in mode heap":      {`{"settings": {"request_bytes_max": 1048576}}`, "mode heap cannot hold a limit"},
		"nothing":                   {`{"method": "/x"}`, "nothing to change"},
		"no JSON":                   {`mode=heap`, "not what is wanted"},
		"another shape":             {`{"metod": "/x"}`, "metod"},
		"two bodies":                {`{"settings": {"depth_max": 1}} {}`, "behind its JSON"},
	} {
		got := ask(handler, "POST", "/harena/api/settings", one.body, withToken)
		if got.Code != http.StatusBadRequest || !strings.Contains(got.Body.String(), one.reason) {
			t.Errorf("%s: %d %s; want %q", name, got.Code, got.Body, one.reason)
		}
	}
	for i, m := range group.Methods() {
		if m.Options != before[i].Options {
			t.Errorf("%s changed to %+v", m.Name, m.Options)
		}
	}
	// The test's own, made beside the page.
	if listed := statusFrom(t, handler).Changes; len(listed) != 1 || listed[0].Who != byAPI {
		t.Errorf("listed %+v", listed)
	}
}

func TestTwoServersChangeTogetherOrNotAtAll(t *testing.T) {
	handler, first := serveTest(t, Options{Token: testToken})
	second, err := scope.NewGroup([]string{rank}, scope.Options{Mode: scope.Heap}, nil)
	if err != nil {
		t.Fatal(err)
	}
	second.Publish("test-live-second")
	defer runtime.KeepAlive(second)
	body := fmt.Sprintf(`{"method": %q, "settings": {"depth_max": 5}}`, rank)
	got := ask(handler, "POST", "/harena/api/settings", body, withToken)
	if got.Code != http.StatusBadRequest {
		t.Fatalf("%d %s", got.Code, got.Body)
	}
	if depth := first.Pool(rank).Options().DepthMax; depth != 0 {
		t.Errorf("the first server's depth is %v", depth)
	}
	if err := second.SetMode("", scope.Codec); err != nil {
		t.Fatal(err)
	}
	if got := ask(handler, "POST", "/harena/api/settings", body, withToken); got.Code != http.StatusOK {
		t.Fatalf("%d %s", got.Code, got.Body)
	}
	if first.Pool(rank).Options().DepthMax != 5 || second.Pool(rank).Options().DepthMax != 5 {
		t.Error("the servers differ")
	}
}

func TestChangesOfOthersAreNoticed(t *testing.T) {
	handler, group := serveTest(t, Options{})
	if err := group.SetMode(rank, scope.Heap); err != nil {
		t.Fatal(err)
	}
	handler.log.notice()
	listed := statusFrom(t, handler).Changes
	if len(listed) != 1 || listed[0].Who != byAPI || listed[0].Method != rank || listed[0].From != "codec" || listed[0].To != "heap" {
		t.Errorf("listed %+v", listed)
	}
}

func TestChangesInANameBearIt(t *testing.T) {
	handler, group := serveTest(t, Options{Token: testToken})
	set := func(mode scope.Mode, bytesMax int64) {
		if err := group.Change(rank, func(o *scope.Options) { o.Mode, o.RequestBytesMax = mode, bytesMax }); err != nil {
			t.Error(err)
		}
	}
	set(scope.Codec, 1<<20)
	scope.ChangeAs("config", func() { set(scope.Codec, 2<<20) })
	set(scope.Codec, 3<<20)
	handler.log.notice()
	listed := statusFrom(t, handler).Changes
	var got []string
	for _, c := range listed {
		got = append(got, c.Who+" "+c.From+" "+c.To)
	}
	if want := []string{"api none 1048576", "config 1048576 2097152", "api 2097152 3145728"}; !slices.Equal(got, want) {
		t.Fatalf("got %q; want %q", got, want)
	}
	undone := ask(handler, "POST", "/harena/api/undo", fmt.Sprintf(`{"id": %d}`, listed[2].ID), withToken)
	if undone.Code != http.StatusOK {
		t.Errorf("%d %s", undone.Code, undone.Body)
	}
}

// Who is told of changes must not be kept by that.
func TestALogThatNobodyHasIsNotKept(t *testing.T) {
	gone := make(chan struct{})
	func() {
		log := newChangeLog()
		runtime.AddCleanup(log, func(gone chan struct{}) { close(gone) }, gone)
	}()
	for deadline := time.After(10 * time.Second); ; {
		runtime.GC()
		select {
		case <-gone:
			scope.ChangeAs("config", func() {})
			return
		case <-deadline:
			t.Fatal("the log is still reachable")
		case <-time.After(time.Millisecond):
		}
	}
}

func TestTimelineHasASampleEachSecondAndForgetsTheOldest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		group, err := scope.NewGroup([]string{rank}, scope.Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		group.Publish("test-live")
		defer runtime.KeepAlive(group)
		handler, err := NewHandler(Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer handler.Close()
		for range 10 {
			group.Pool(rank).Get().End()
		}
		time.Sleep(sampleInterval + time.Millisecond)
		got := decode[timeline](t, ask(handler, "GET", "/harena/api/timeline", "", nil).Body)
		if len(got.Samples) != 2 || got.Samples[1].RequestsPerS != 10 || got.Samples[0].RequestsPerS != 0 {
			t.Errorf("samples %+v", got.Samples)
		}
		time.Sleep((samplesMax + 10) * sampleInterval)
		all := decode[timeline](t, ask(handler, "GET", "/harena/api/timeline", "", nil).Body)
		if len(all.Samples) != samplesMax || all.Samples[0].AtMS <= got.Samples[1].AtMS {
			t.Errorf("%d samples from %d", len(all.Samples), all.Samples[0].AtMS)
		}
		after := all.Samples[samplesMax-3].AtMS
		rest := decode[timeline](t, ask(handler, "GET", fmt.Sprintf("/harena/api/timeline?after_ms=%d", after), "", nil).Body)
		if len(rest.Samples) != 2 {
			t.Errorf("%d samples after the last but two", len(rest.Samples))
		}
		if bad := ask(handler, "GET", "/harena/api/timeline?after_ms=x", "", nil); bad.Code != http.StatusBadRequest {
			t.Errorf("after_ms=x: %d", bad.Code)
		}
	})
}
