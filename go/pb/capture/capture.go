package capture

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// Stats are counts since the start.
type Stats struct {
	CallsWritten uint64
	BytesWritten uint64
	CallsDropped uint64 // failed, too large, the queue full, BytesMax reached, disk error, or after Close
	Ended        bool   // BytesMax was reached or the disk failed: no more is written
}

// Capture appends calls to *.harena-capture files (proto/harena/replay/v1/record.proto) from a goroutine
// of its own. No caller ever waits for the disk.
//
// Thread rule: any goroutine.
//
// Lifetime rule: until Close, which writes what waits. Calls that come later are dropped.
type Capture struct {
	options Options
	seen    atomic.Uint64
	written atomic.Uint64
	bytes   atomic.Uint64
	dropped atomic.Uint64
	ended   atomic.Bool

	wake chan struct{} // has room for one
	done chan struct{} // closed when the goroutine has ended

	mutex       sync.Mutex // held for moments
	queue       [][]byte   // records
	queuedBytes int64
	closed      bool

	// The goroutine's own, until done.
	files files
}

// New begins to capture. The error says what is wrong with the options, or with their directory.
func New(options Options) (*Capture, error) {
	if err := options.Validate(); err != nil {
		return nil, err
	}
	options.setDefaults()
	c := &Capture{options: options, wake: make(chan struct{}, 1), done: make(chan struct{})}
	c.files.directory, c.files.bytesMax = options.Directory, options.FileBytesMax
	if err := c.files.probe(); err != nil {
		return nil, fmt.Errorf("harena/capture: Directory %q cannot be written by this process: %w", options.Directory, err)
	}
	options.Logger.Warn("harena/capture: capturing calls, with all that callers send",
		"one_in", options.OneIn, "directory", options.Directory)
	go c.run()
	return c, nil
}

// Wants reports whether the call that begins now is to be captured. It is to be asked once per call.
func (c *Capture) Wants() bool { return (c.seen.Add(1)-1)%uint64(c.options.OneIn) == 0 }

// Offer takes a call that was wanted, or drops and counts it. It keeps none of the call's slices.
func (c *Capture) Offer(call Call) {
	if int64(len(call.Request)+len(call.Response)) > c.options.CallBytesMax || !c.enqueue(AppendRecord(nil, call)) {
		c.Drop()
	}
}

// Drop counts and forgets a call that was wanted and cannot be offered.
func (c *Capture) Drop() { c.dropped.Add(1) }

// CallBytesMax returns the option.
func (c *Capture) CallBytesMax() int64 { return c.options.CallBytesMax }

// Stats returns the counts.
func (c *Capture) Stats() Stats {
	return Stats{
		CallsWritten: c.written.Load(),
		BytesWritten: c.bytes.Load(),
		CallsDropped: c.dropped.Load(),
		Ended:        c.ended.Load(),
	}
}

// Close writes what waits, closes the file and ends the goroutine. The error is the disk's that ended
// capturing early, if one did; that BytesMax was reached is none. It may be called again, and then does nothing more.
func (c *Capture) Close() error {
	c.mutex.Lock()
	c.closed = true
	c.mutex.Unlock()
	c.notify()
	<-c.done
	return c.files.failure
}

func (c *Capture) enqueue(record []byte) bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.closed || c.queuedBytes+int64(len(record)) > c.options.QueueBytesMax {
		return false
	}
	c.queuedBytes += int64(len(record))
	c.queue = append(c.queue, record)
	c.notify()
	return true
}

func (c *Capture) notify() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

func (c *Capture) run() {
	defer close(c.done)
	for {
		c.mutex.Lock()
		records, closed := c.queue, c.closed
		c.queue = nil
		c.mutex.Unlock()
		if len(records) == 0 {
			if closed {
				c.files.close()
				return
			}
			<-c.wake
			continue
		}
		for _, record := range records {
			c.write(record)
			c.mutex.Lock()
			c.queuedBytes -= int64(len(record))
			c.mutex.Unlock()
		}
	}
}

func (c *Capture) write(record []byte) {
	switch {
	case c.ended.Load():
		c.Drop()
	case c.bytes.Load()+uint64(len(record)) > uint64(c.options.BytesMax):
		c.end(fmt.Errorf("BytesMax is %d, and the next call is more", c.options.BytesMax))
	default:
		if err := c.files.write(record); err != nil {
			c.end(err)
			return
		}
		c.bytes.Add(uint64(len(record)))
		c.written.Add(1)
	}
}

// end drops the record that it ends with.
func (c *Capture) end(why error) {
	c.options.Logger.Warn("harena/capture: capturing has ended", "directory", c.options.Directory, "error", why)
	c.ended.Store(true)
	c.files.close()
	c.Drop()
}
