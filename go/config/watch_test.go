package config

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/harena-project/harena/go/scope"
)

// logged is what a watcher told.
type logged struct {
	mutex sync.Mutex
	text  bytes.Buffer
}

func (l *logged) Write(data []byte) (int, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.text.Write(data)
}

func (l *logged) String() string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.text.String()
}

// watched is a file in a folder of its own that is watched, and what is told of it.
type watched struct {
	*testing.T
	*Watcher
	path string
	log  *logged
}

func watch(t *testing.T, path string, options WatchOptions) watched {
	t.Helper()
	log := new(logged)
	options.Logger = slog.New(slog.NewTextHandler(log, nil))
	ctx, cancel := context.WithCancel(context.Background())
	w, err := Watch(ctx, path, options)
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		<-w.Done()
	})
	return watched{t, w, path, log}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (w watched) eventually(what string, holds func() bool) {
	w.Helper()
	for end := time.Now().Add(20 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			w.Fatalf("%s: not in time; the log is\n%s", what, w.log)
		}
	}
}

func depthFile(depth string) string { return "version: 1\ndefaults: {depth_max: " + depth + "}\n" }

func TestWatchAppliesEachChange(t *testing.T) {
	group := serve(t, scope.Options{}, "/watch.S/One")
	depthIs := func(depth int) func() bool {
		return func() bool { return optionsOf(group, "/watch.S/One").DepthMax == depth }
	}
	path := filepath.Join(t.TempDir(), "harena.yaml")
	write(t, path, depthFile("11"))
	w := watch(t, path, WatchOptions{PollEvery: time.Hour})
	if !depthIs(11)() {
		t.Error("Watch returned before the file was in force")
	}
	write(t, path, depthFile("12"))
	w.eventually("written in place", depthIs(12))
	write(t, path+".new", depthFile("13"))
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	w.eventually("replaced", depthIs(13))
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	w.eventually("a file that is gone is told", func() bool { return w.Err() != nil })
	if !depthIs(13)() {
		t.Error("the settings went with the file")
	}
	write(t, path, depthFile("14"))
	w.eventually("there again", depthIs(14))
	w.eventually("no problem any more", func() bool { return w.Err() == nil })
}

func TestWatchRefusesABadFileAndKeepsTheOldOne(t *testing.T) {
	group := serve(t, scope.Options{}, "/bad.S/One")
	path := filepath.Join(t.TempDir(), "harena.yaml")
	write(t, path, depthFile("21"))
	w := watch(t, path, WatchOptions{PollEvery: time.Hour})
	write(t, path, depthFile("many"))
	w.eventually("refused", func() bool { return w.Err() != nil })
	want := path + `:2:23: depth_max is "many"; write a whole number from 1 to 100, or unlimited`
	if got := w.Err().Error(); got != want {
		t.Errorf("the error is %s; want %s", got, want)
	}
	if !strings.Contains(w.log.String(), ":2:23") {
		t.Errorf("the line is not in the log:\n%s", w.log)
	}
	if got := optionsOf(group, "/bad.S/One").DepthMax; got != 21 {
		t.Errorf("DepthMax is %d; want 21", got)
	}
	if got := w.Config().For("")[DepthMaxKey].Text; got != "21" {
		t.Errorf("Config has depth_max %s; want what is in force", got)
	}
}

// Kubernetes shows a file through a link to a link, and switches the second.
func TestWatchFollowsSwitchedLinks(t *testing.T) {
	group := serve(t, scope.Options{}, "/kube.S/One")
	folder := t.TempDir()
	version := func(name, depth string) {
		if err := os.Mkdir(filepath.Join(folder, name), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(folder, name, "harena.yaml"), depthFile(depth))
		if err := os.Symlink(name, filepath.Join(folder, "..data_tmp")); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(folder, "..data_tmp"), filepath.Join(folder, "..data")); err != nil {
			t.Fatal(err)
		}
	}
	version("..2026_01", "31")
	path := filepath.Join(folder, "harena.yaml")
	if err := os.Symlink(filepath.Join("..data", "harena.yaml"), path); err != nil {
		t.Fatal(err)
	}
	w := watch(t, path, WatchOptions{PollEvery: time.Hour})
	for _, next := range []struct {
		name, depth string
		want        int
	}{{"..2026_02", "32", 32}, {"..2026_03", "33", 33}} {
		version(next.name, next.depth)
		w.eventually("switched to "+next.name, func() bool { return optionsOf(group, "/kube.S/One").DepthMax == next.want })
	}
}

// A file system that tells nothing: the link leads to a folder that is not the one which is watched.
func TestWatchPollsToo(t *testing.T) {
	group := serve(t, scope.Options{}, "/poll.S/One")
	path := filepath.Join(t.TempDir(), "harena.yaml")
	write(t, path, depthFile("41"))
	w := &Watcher{path: path, options: WatchOptions{Logger: slog.New(slog.DiscardHandler), PollEvery: 5 * time.Millisecond},
		done: make(chan struct{})}
	ctx, cancel := context.WithCancel(context.Background())
	go w.run(ctx, nil)
	defer func() {
		cancel()
		<-w.Done()
	}()
	test := watched{t, w, path, new(logged)}
	test.eventually("first", func() bool { return optionsOf(group, "/poll.S/One").DepthMax == 41 })
	write(t, path, depthFile("42"))
	test.eventually("changed", func() bool { return optionsOf(group, "/poll.S/One").DepthMax == 42 })
}

func TestWatchGivesLateMethodsTheirs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "harena.yaml")
	write(t, path, depthFile("51"))
	w := watch(t, path, WatchOptions{PollEvery: time.Hour})
	group := serve(t, scope.Options{}, "/late.S/One")
	w.eventually("registered later", func() bool { return optionsOf(group, "/late.S/One").DepthMax == 51 })
}

func TestWatchLaysOverridesOverEachFile(t *testing.T) {
	group := serve(t, scope.Options{}, "/over.S/One")
	path := filepath.Join(t.TempDir(), "harena.yaml")
	write(t, path, depthFile("61"))
	w := watch(t, path, WatchOptions{PollEvery: time.Hour, Overrides: []Override{{"HARENA_DEPTH_MAX", "depth_max", "7"}}})
	write(t, path, "version: 1\ndefaults: {depth_max: 62, request_bytes_max: 1MiB}\n")
	w.eventually("changed", func() bool { return optionsOf(group, "/over.S/One").RequestBytesMax == 1<<20 })
	if got := optionsOf(group, "/over.S/One").DepthMax; got != 7 {
		t.Errorf("DepthMax is %d; want the override's 7", got)
	}
}

func TestWatchDoesNotBeginWithABadFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "harena.yaml")
	if _, err := Watch(context.Background(), path, WatchOptions{Logger: slog.New(slog.DiscardHandler)}); err == nil {
		t.Error("a file that is not there is taken")
	}
	write(t, path, "version: 3")
	if _, err := Watch(context.Background(), path, WatchOptions{Logger: slog.New(slog.DiscardHandler)}); err == nil {
		t.Error("a bad file is taken")
	}
}
