package capture

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// begin captures into a directory of the test.
func begin(t testing.TB, options Options) *Capture {
	t.Helper()
	if options.Directory == "" {
		options.Directory = t.TempDir()
	}
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	c, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func closed(t testing.TB, c *Capture) {
	t.Helper()
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
}

// written returns the calls in all files of the directory, and the files.
func written(t testing.TB, directory string) (calls []Call, paths []string) {
	t.Helper()
	for call, err := range Calls(directory) {
		if err != nil {
			t.Fatal(err)
		}
		calls = append(calls, call)
	}
	paths, err := filepath.Glob(filepath.Join(directory, "*.harena-capture"))
	if err != nil {
		t.Fatal(err)
	}
	return calls, paths
}

func sized(n int) Call { return Call{Method: "/s.S/M", Request: bytes.Repeat([]byte("c"), n)} }

func TestFilesAreTheOwnersAloneAndClosedWhole(t *testing.T) {
	c := begin(t, Options{OneIn: 1})
	for range 100 {
		c.Offer(sized(1000))
	}
	closed(t, c)
	calls, paths := written(t, c.options.Directory)
	if len(calls) != 100 || len(paths) != 1 {
		t.Fatalf("%d calls in %d files", len(calls), len(paths))
	}
	info, err := os.Stat(paths[0])
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	all, err := os.ReadDir(c.options.Directory)
	if err != nil || len(all) != 1 {
		t.Errorf("the directory holds %v, %v", all, err)
	}
	if s := c.Stats(); s.CallsWritten != 100 || s.CallsDropped != 0 || s.Ended || s.BytesWritten != uint64(info.Size()) {
		t.Errorf("%+v of %d bytes", s, info.Size())
	}
}

func TestOneInNIsWanted(t *testing.T) {
	c := begin(t, Options{OneIn: 10})
	wanted := 0
	for range 1000 {
		if c.Wants() {
			wanted++
		}
	}
	if wanted != 100 {
		t.Errorf("%d of 1000", wanted)
	}
	if c := begin(t, Options{}); c.options.OneIn != 1000 || c.CallBytesMax() != 4<<20 {
		t.Errorf("the defaults are %+v", c.options)
	}
}

func TestSizesAreBounded(t *testing.T) {
	var log bytes.Buffer
	c := begin(t, Options{CallBytesMax: 100, FileBytesMax: 250, BytesMax: 500, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	c.Offer(Call{Request: make([]byte, 60), Response: make([]byte, 60)})
	if s := c.Stats(); s.CallsDropped != 1 {
		t.Errorf("a large call: %+v", s)
	}
	for range 9 {
		c.Offer(sized(90))
	}
	c.Offer(sized(1)) // has room, but capturing has ended
	closed(t, c)
	if text := log.String(); strings.Count(text, "capturing has ended") != 1 || !strings.Contains(text, "BytesMax is 500") {
		t.Errorf("the log says %s", text)
	}
	calls, paths := written(t, c.options.Directory)
	if len(calls) != 4 || len(paths) != 2 {
		t.Errorf("%d calls in %d files", len(calls), len(paths))
	}
	for _, path := range paths {
		if info, err := os.Stat(path); err != nil || info.Size() > 250 {
			t.Errorf("%v, %v", info, err)
		}
	}
	if s := c.Stats(); s.CallsWritten != 4 || s.CallsDropped != 7 || s.BytesWritten > 500 || !s.Ended {
		t.Errorf("%+v", s)
	}
}

func TestAFullQueueDropsAndCounts(t *testing.T) {
	c := begin(t, Options{QueueBytesMax: 10})
	c.Offer(sized(50))
	if s := c.Stats(); s.CallsDropped != 1 {
		t.Errorf("%+v", s)
	}
	closed(t, c)
	c.Offer(sized(1))
	if s := c.Stats(); s.CallsDropped != 2 {
		t.Errorf("after Close: %+v", s)
	}
	closed(t, c)
}

// Every call is in the files or counted as dropped, while Close comes in between.
func TestGoroutinesLoseNothingUncounted(t *testing.T) {
	c := begin(t, Options{})
	const goroutines, each = 4, 1000
	var offered atomic.Int32
	var all sync.WaitGroup
	for range goroutines {
		all.Go(func() {
			for range each {
				c.Offer(sized(10))
				if offered.Add(1) == goroutines*each/2 {
					all.Go(func() { c.Close() })
				}
			}
		})
	}
	all.Wait()
	closed(t, c)
	calls, _ := written(t, c.options.Directory)
	s := c.Stats()
	if len(calls) < goroutines*each/4 || uint64(len(calls)) != s.CallsWritten || s.CallsWritten+s.CallsDropped != goroutines*each {
		t.Errorf("%d calls read, %+v", len(calls), s)
	}
}

func TestADirectoryThatGoesEndsTheCaptureAndIsSaid(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "here")
	if err := os.Mkdir(directory, 0o700); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	c := begin(t, Options{Directory: directory, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err := os.Remove(directory); err != nil {
		t.Fatal(err)
	}
	c.Offer(sized(1))
	c.Offer(sized(1))
	err := c.Close()
	if err == nil || !strings.Contains(err.Error(), directory) {
		t.Errorf("Close: %v", err)
	}
	if text := log.String(); strings.Count(text, "capturing has ended") != 1 || !strings.Contains(text, "all that callers send") {
		t.Errorf("the log says %s", text)
	}
	if s := c.Stats(); s.CallsDropped != 2 || !s.Ended {
		t.Errorf("%+v", s)
	}
}

func TestWhatIsWrongIsSaid(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for want, options := range map[string]Options{
		"/no/such/place": {Directory: "/no/such/place"},
		file:             {Directory: file},
		`Directory ""`:   {},
		"OneIn is -1":    {Directory: t.TempDir(), OneIn: -1},
		"BytesMax is -2": {Directory: t.TempDir(), BytesMax: -2},
		"/proc/self/fd":  {Directory: "/proc/self/fd"},
	} {
		c, err := New(options)
		if c != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	c := begin(t, Options{})
	for _, wrong := range [][]string{{}, {"feed.Feed/Rank"}, {"/feed.Feed/Rank", ""}, {"Rank"}} {
		func() {
			defer func() {
				if said := recover(); said == nil || !strings.HasPrefix(said.(string), "harena/capture: ") {
					t.Errorf("%q: %v", wrong, said)
				}
			}()
			NewTap(c, wrong...)
		}()
	}
}

func TestADamagedFileCostsWhatFollowsInIt(t *testing.T) {
	directory := t.TempDir()
	record := string(AppendRecord(nil, sized(1)))
	for name, data := range map[string]string{
		"1.harena-capture": record + record[:5],
		"2.harena-capture": record,
		"3.other":          "something else",
	} {
		if err := os.WriteFile(filepath.Join(directory, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(directory, "4.harena-capture"), 0o700); err != nil {
		t.Fatal(err)
	}
	var got []string
	for call, err := range Calls(directory) {
		if err != nil {
			got = append(got, strings.ReplaceAll(err.Error(), directory, ""))
		} else {
			got = append(got, call.Method)
		}
	}
	want := []string{"/s.S/M", "/1.harena-capture: " + ErrDamaged.Error(), "/s.S/M",
		"/4.harena-capture: harena/capture: read /4.harena-capture: is a directory"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for range Calls(directory) {
		break // and leaves no file open
	}
	for _, err := range Calls("/no/such/place") {
		if err == nil || !strings.Contains(err.Error(), "/no/such/place") {
			t.Error(err)
		}
	}
}
