package capture

import (
	"fmt"
	"log/slog"
	"os"
)

// Options say what is captured. A zero stands for the default.
type Options struct {
	// Directory is where the files go; it has to be there. Each is readable by this process's user alone.
	Directory string
	// OneIn captures one call of so many, chosen by count. 1000 by default.
	OneIn int
	// CallBytesMax drops a call whose request and response have more bytes than this. 4 MiB by default.
	CallBytesMax int64
	// FileBytesMax closes a file that has reached this, and begins the next. 64 MiB by default.
	FileBytesMax int64
	// BytesMax is for all files together. Then capturing ends, for as long as the Capture lives, and
	// says so. 256 MiB by default.
	BytesMax int64
	// QueueBytesMax is for what waits for the disk. What comes when so much is there already is
	// dropped. 16 MiB by default.
	QueueBytesMax int64
	// Logger is told that capturing has begun, and what ended it; nil for slog's default.
	Logger *slog.Logger
}

// Validate says what is wrong with them and what to do.
func (o Options) Validate() error {
	if o.OneIn < 0 {
		return fmt.Errorf("harena/capture: OneIn is %d: 1 captures every call, 1000 one of a thousand", o.OneIn)
	}
	for _, limit := range []struct {
		name  string
		value int64
	}{
		{"CallBytesMax", o.CallBytesMax}, {"FileBytesMax", o.FileBytesMax},
		{"BytesMax", o.BytesMax}, {"QueueBytesMax", o.QueueBytesMax},
	} {
		if limit.value < 0 {
			return fmt.Errorf("harena/capture: %s is %d: name the bytes, or leave it out for the default", limit.name, limit.value)
		}
	}
	if found, err := os.Stat(o.Directory); err != nil || !found.IsDir() {
		return fmt.Errorf("harena/capture: Directory %q is none: make it first, for this process's user alone", o.Directory)
	}
	return nil
}

func (o *Options) setDefaults() {
	if o.OneIn == 0 {
		o.OneIn = 1000
	}
	for _, limit := range []struct {
		value *int64
		most  int64
	}{{&o.CallBytesMax, 4 << 20}, {&o.FileBytesMax, 64 << 20}, {&o.BytesMax, 256 << 20}, {&o.QueueBytesMax, 16 << 20}} {
		if *limit.value == 0 {
			*limit.value = limit.most
		}
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
}
