package scope

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/harena-project/harena/go/arena"
)

// Pool makes the scopes of one method. Its settings may be changed while scopes are in use; each
// scope keeps those that it began with.
//
// Thread rule: any goroutine.
//
// Lifetime rule: scopes may outlive it.
type Pool struct {
	options  atomic.Pointer[Options]
	changing sync.Mutex // held while a change of options is checked and made

	arenas arena.Pool

	started, ended, retained   atomic.Uint64
	refused                    [len(limits)]atomic.Uint64
	bytesUsedMax, bytesUsedSum atomic.Int64
	bytesUsed                  bytesHistogram
	wireBytes                  atomic.Int64
	uncovered                  atomic.Uint64
	decoding, encoding         stepTimes
}

// NewPool returns a pool, or what is wrong with the options.
func NewPool(options Options) (*Pool, error) {
	if options.Mode == Heap && options.asksForLimit(Options{}) {
		return nil, errHeapLimit
	}
	return newNamedPool("", options)
}

// newNamedPool makes a pool that reports call by the name.
func newNamedPool(name string, options Options) (*Pool, error) {
	if err := options.Validate(); err != nil {
		return nil, err
	}
	p := &Pool{}
	p.options.Store(&options)
	p.arenas.Configure(arena.PoolOptions{QuarantineOneIn: options.QuarantineOneIn, Name: name})
	return p, nil
}

// Options returns the settings of the next scope.
func (p *Pool) Options() Options { return *p.options.Load() }

// SetMode changes the mode of scopes from now on. Limits are not held in mode [Heap]; they are held again
// from when the mode is [Codec]. When the mode is none, nothing changes and the error says why.
func (p *Pool) SetMode(mode Mode) error {
	return p.Change(func(o *Options) { o.Mode = mode })
}

// SetRequestBytesMax changes the limit of scopes from now on. In mode [Heap] nothing changes, and the error
// says why.
func (p *Pool) SetRequestBytesMax(bytesMax int64) error {
	return p.Change(func(o *Options) { o.RequestBytesMax = bytesMax })
}

// SetDepthMax changes the depth limit of scopes from now on, likewise.
func (p *Pool) SetDepthMax(depthMax int) error {
	return p.Change(func(o *Options) { o.DepthMax = depthMax })
}

// SetDecodedRatioMax changes the bound of decoding of scopes from now on, likewise.
func (p *Pool) SetDecodedRatioMax(ratioMax float64) error {
	return p.Change(func(o *Options) { o.DecodedRatioMax = ratioMax })
}

// Change changes any options of scopes from now on that may change, likewise. QuarantineOneIn stays as
// it was when the pool was made.
func (p *Pool) Change(edit func(*Options)) error {
	p.changing.Lock()
	defer p.changing.Unlock()
	options := p.Options()
	edit(&options)
	if err := p.whyNot(options); err != nil {
		return err
	}
	p.options.Store(&options)
	return nil
}

// whyNot says why the options cannot replace the pool's.
func (p *Pool) whyNot(changed Options) error {
	now := p.Options()
	if now.Mode == Heap && changed.Mode == Heap && changed.asksForLimit(now) {
		return errHeapLimit
	}
	if changed.QuarantineOneIn != now.QuarantineOneIn {
		return errors.New("harena/scope: QuarantineOneIn cannot be changed while the server runs; " +
			"set it where the service is made")
	}
	return changed.Validate()
}

// Get returns a new scope. Its owner must call End.
func (p *Pool) Get() *Scope {
	s := new(Scope)
	p.Start(s)
	return s
}

// Start is Get for a scope that is part of a larger object, which then is all that a request costs.
// REQUIRES: *s is the zero value.
func (p *Pool) Start(s *Scope) {
	if s.pool != nil {
		panic("harena/scope: Start of a scope that is not the zero value; a scope serves one request")
	}
	s.pool = p
	p.arenas.Init(&s.arena)
	s.options = p.Options()
	if s.options.Mode == Heap {
		s.state.Store(retained)
	}
	if s.options.Mode != Heap {
		// Takes the arena's memory now, also where there is no limit, so that Abandon knows it did.
		s.arena.SetBytesMax(s.options.RequestBytesMax)
		s.arena.SetBudget(process)
		s.arena.SetSharedBytesMax(RequestBytesMax, s.options.RequestBytesMax)
	}
	s.timed = isTimed(p.started.Add(1))
}

// Lost counts a scope as ended that became unreachable without End. The garbage collector has its
// memory.
func (p *Pool) Lost() {
	p.count(retained, 0)
	p.arenas.Lost()
}

func (p *Pool) count(state uint32, bytesUsed int64) {
	p.ended.Add(1)
	if state&retained != 0 {
		p.retained.Add(1)
	}
	p.bytesUsedSum.Add(bytesUsed)
	p.bytesUsed.add(bytesUsed)
	for {
		max := p.bytesUsedMax.Load()
		if bytesUsed <= max || p.bytesUsedMax.CompareAndSwap(max, bytesUsed) {
			return
		}
	}
}
