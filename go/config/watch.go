package config

import (
	"bytes"
	"context"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// WatchOptions say how a file is watched. The zero value is good.
type WatchOptions struct {
	// Overrides are laid over the file each time it is read: FromEnvironment(os.LookupEnv), then flags.
	Overrides []Override
	// Logger is told of each reload, of what is refused, and of warnings; nil for slog's default.
	Logger *slog.Logger
	// PollEvery is how often the file is read where the system tells nothing, as on network file
	// systems. Zero means 10 s.
	PollEvery time.Duration
}

const (
	pollEveryDefault = 10 * time.Second
	settleFor        = 50 * time.Millisecond // a file is read when it was left alone for so long
	settleForMax     = time.Second           // even where something happens all the time
	lookForNewEvery  = time.Second           // methods that were registered since
)

// Watcher keeps the settings of a file in force while a context lasts.
//
// Thread rule: any goroutine.
type Watcher struct {
	path    string
	options WatchOptions
	applier Applier
	done    chan struct{}

	mutex   sync.Mutex
	data    []byte // the content that was looked at last
	config  *Config
	problem error
	reloads int
}

// Watch reads a file, applies it to everything that is served, and does so again whenever the file
// changes: written in place, replaced, or behind links that are switched as Kubernetes does. A file with
// anything wrong changes nothing, and the log says where and why. Methods that are registered later
// get their settings within a second; to have them from the first request, and to have settings
// that cannot change later, make the services with [Config.ServiceOptions].
//
// The error says what is wrong with the file as it is now; then nothing is watched. The settings stay
// in force after ctx has ended.
func Watch(ctx context.Context, path string, options WatchOptions) (*Watcher, error) {
	if options.Logger == nil {
		options.Logger = slog.Default()
	}
	if options.PollEvery <= 0 {
		options.PollEvery = pollEveryDefault
	}
	w := &Watcher{path: path, options: options, done: make(chan struct{})}
	if err := w.reload(); err != nil {
		return nil, err
	}
	// Without it, polling alone finds changes.
	notifier, err := fsnotify.NewWatcher()
	if err != nil {
		options.Logger.Warn("harena/config: changes are found by polling alone", "path", path, "error", err)
	}
	go w.run(ctx, notifier)
	return w, nil
}

// Config returns the settings in force.
func (w *Watcher) Config() *Config {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.config
}

// Err says why the file that is there now is not in force, or nil.
func (w *Watcher) Err() error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.problem
}

// Reloads counts how often the file was applied, the first time included.
func (w *Watcher) Reloads() int {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.reloads
}

// ApplyToNew applies the settings to methods that were registered since, without waiting.
func (w *Watcher) ApplyToNew() error { return w.applier.ApplyToNew() }

// Done is closed when the watching has ended.
func (w *Watcher) Done() <-chan struct{} { return w.done }

func (w *Watcher) run(ctx context.Context, notifier *fsnotify.Watcher) {
	defer close(w.done)
	var events chan fsnotify.Event
	var failures chan error
	if notifier != nil {
		defer notifier.Close()
		events, failures = notifier.Events, notifier.Errors
		w.follow(notifier)
	}
	poll := time.NewTicker(w.options.PollEvery)
	defer poll.Stop()
	young := time.NewTicker(lookForNewEvery)
	defer young.Stop()
	settled := time.NewTimer(settleFor) // the file may have changed before it was followed
	defer settled.Stop()
	var settledBy time.Time
	settle := func() {
		if settledBy.IsZero() {
			settledBy = time.Now().Add(settleForMax)
		}
		settled.Reset(min(settleFor, time.Until(settledBy)))
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-events:
			settle()
			continue
		case <-failures: // events were lost
			settle()
			continue
		case <-young.C:
			if err := w.applier.ApplyToNew(); err != nil {
				w.options.Logger.Error("harena/config: a method keeps the settings of its code", "reason", err.Error())
			}
			continue
		case <-settled.C:
		case <-poll.C:
		}
		settledBy = time.Time{}
		_ = w.reload() // told in the log, and by Err
		if notifier != nil {
			w.follow(notifier)
		}
	}
}

// follow watches the folders that the file and what it links to are in, not the file: its
// replacement is another one.
func (w *Watcher) follow(notifier *fsnotify.Watcher) {
	folders := map[string]bool{filepath.Dir(w.path): true}
	if real, err := filepath.EvalSymlinks(w.path); err == nil {
		folders[filepath.Dir(real)] = true
	}
	for _, old := range notifier.WatchList() {
		if !folders[old] {
			_ = notifier.Remove(old) // or it is gone already
		}
	}
	for folder := range folders {
		if err := notifier.Add(folder); err != nil {
			w.options.Logger.Warn("harena/config: polling alone finds changes in a folder", "path", folder, "error", err)
		}
	}
}

// reload reads the file and applies it, unless it is what it was.
func (w *Watcher) reload() error {
	data, err := readFile(w.path)
	w.mutex.Lock()
	defer w.mutex.Unlock()
	log := w.options.Logger
	if err != nil {
		if w.problem == nil || w.problem.Error() != err.Error() {
			log.Error("harena/config: the file cannot be read; the settings stay as they are", "reason", err.Error())
		}
		w.problem, w.data = err, nil
		return err
	}
	if w.data != nil && bytes.Equal(data, w.data) {
		return w.problem
	}
	w.data = data
	config, err := Parse(w.path, data)
	if err == nil {
		config, err = config.With(w.options.Overrides...)
	}
	if err == nil {
		err = w.applier.Apply(config)
	}
	w.problem = err
	if err != nil {
		log.Error("harena/config: the file is refused; the settings stay as they are", "reason", err.Error())
		return err
	}
	w.config = config
	w.reloads++
	for _, warning := range config.Warnings() {
		log.Warn("harena/config: " + warning.String())
	}
	log.Info("harena/config: settings are in force", "path", w.path)
	return nil
}
