package capture

import (
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"
)

// files is a row of capture files, written one after the other.
//
// Thread rule: one goroutine.
type files struct {
	directory string
	bytesMax  int64

	file    *os.File // nil between two
	bytes   int64    // of it
	failure error    // after which nothing is written: what follows half a record could not be read
}

const extension = ".harena-capture"

var filesOfProcess atomic.Int64

// probe tries out whether the directory can be written.
func (f *files) probe() error {
	file, err := os.CreateTemp(f.directory, ".harena-capture-*")
	if err != nil {
		return err
	}
	file.Close()
	return os.Remove(file.Name())
}

// write appends a record to the file, or to the next one when it has no room. The error is the failure.
func (f *files) write(record []byte) error {
	if f.failure == nil && f.file != nil && f.bytes+int64(len(record)) > f.bytesMax {
		f.close()
	}
	if f.failure == nil && f.file == nil {
		f.file, f.failure = f.next()
		f.bytes = 0
	}
	if f.failure != nil {
		return f.failure
	}
	n, err := f.file.Write(record)
	f.bytes += int64(n)
	if err != nil {
		f.close()
		f.failure = fmt.Errorf("harena/capture: %w", err)
	}
	return f.failure
}

func (f *files) next() (*os.File, error) {
	name := fmt.Sprintf("%d-%d-%d"+extension, time.Now().UnixMilli(), os.Getpid(), filesOfProcess.Add(1))
	file, err := os.OpenFile(filepath.Join(f.directory, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("harena/capture: %w", err)
	}
	return file, nil
}

func (f *files) close() {
	if f.file == nil {
		return
	}
	if err := f.file.Close(); err != nil && f.failure == nil {
		f.failure = fmt.Errorf("harena/capture: %w", err)
	}
	f.file = nil
}

// Calls reads the calls in all capture files of a directory, in the order of the files' names. After an
// error it goes on with the next file.
func Calls(directory string) iter.Seq2[Call, error] {
	return func(yield func(Call, error) bool) {
		entries, err := os.ReadDir(directory)
		if err != nil {
			yield(Call{}, fmt.Errorf("harena/capture: %w", err))
			return
		}
		for _, entry := range entries {
			if filepath.Ext(entry.Name()) == extension && !readFile(filepath.Join(directory, entry.Name()), yield) {
				return
			}
		}
	}
}

func readFile(path string, yield func(Call, error) bool) (more bool) {
	file, err := os.Open(path)
	if err != nil {
		return yield(Call{}, fmt.Errorf("harena/capture: %w", err))
	}
	defer file.Close()
	for reader := NewReader(file); ; {
		call, err := reader.Next()
		if err == io.EOF {
			return true
		}
		if err != nil {
			return yield(Call{}, fmt.Errorf("%s: %w", path, err))
		}
		if !yield(call, nil) {
			return false
		}
	}
}
