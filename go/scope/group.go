package scope

import (
	"fmt"
	"strings"
	"sync"
)

// Group is the pools of a service, by the full names of its methods ("/package.Service/Method"). The
// zero value is empty and ready to use.
//
// Thread rule: any goroutine.
type Group struct {
	mutex sync.RWMutex // write-locked while a change is checked for all pools and made
	names []string
	pools map[string]*Pool
}

// MethodStats is one method's entry of [Group.Methods].
type MethodStats struct {
	Name    string
	Options Options
	Stats
}

// NewGroup makes a pool for each name, with its own options where there are some and the defaults
// otherwise. Options for a name that is not among them are an error.
func NewGroup(names []string, defaults Options, methods map[string]Options) (*Group, error) {
	g := new(Group)
	for _, name := range names {
		options, own := methods[name]
		if !own {
			options = defaults
		}
		if _, err := g.Add(name, options); err != nil {
			return nil, err
		}
	}
	for name := range methods {
		if _, err := g.pick(name); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// Add makes a pool for one more name, for frameworks that tell their methods one by one. For a name
// that is there already it returns the pool of that name, as it is.
func (g *Group) Add(name string, options Options) (*Pool, error) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if there := g.pools[name]; there != nil {
		return there, nil
	}
	pool, err := newNamedPool(name, options)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if g.pools == nil {
		g.pools = make(map[string]*Pool)
	}
	g.names = append(g.names, name)
	g.pools[name] = pool
	return pool, nil
}

// Pool returns the pool of a method, or nil.
func (g *Group) Pool(name string) *Pool {
	g.mutex.RLock()
	defer g.mutex.RUnlock()
	return g.pools[name]
}

// SetMode changes the mode of one method, or of all when name is empty, for requests from now on, as
// [Pool.SetMode] does. When that cannot be (an unknown method), nothing changes for any method and the
// error says why.
func (g *Group) SetMode(name string, mode Mode) error {
	return g.Change(name, func(o *Options) { o.Mode = mode })
}

// SetRequestBytesMax changes the limit, likewise.
func (g *Group) SetRequestBytesMax(name string, bytesMax int64) error {
	return g.Change(name, func(o *Options) { o.RequestBytesMax = bytesMax })
}

// SetDepthMax changes the depth limit, likewise.
func (g *Group) SetDepthMax(name string, depthMax int) error {
	return g.Change(name, func(o *Options) { o.DepthMax = depthMax })
}

// SetDecodedRatioMax changes the bound of decoding, likewise.
func (g *Group) SetDecodedRatioMax(name string, ratioMax float64) error {
	return g.Change(name, func(o *Options) { o.DecodedRatioMax = ratioMax })
}

// Methods returns the settings and counts of each method, in the order of NewGroup and Add.
func (g *Group) Methods() []MethodStats {
	g.mutex.RLock()
	defer g.mutex.RUnlock()
	all := make([]MethodStats, 0, len(g.names))
	for _, name := range g.names {
		p := g.pools[name]
		all = append(all, MethodStats{Name: name, Options: p.Options(), Stats: p.Stats()})
	}
	return all
}

// Change changes any options that may change while a server runs, of one method, or of all when name
// is empty, likewise. QuarantineOneIn stays as it was when the service was made.
func (g *Group) Change(name string, edit func(*Options)) error {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	picked, err := g.check(name, edit)
	if err != nil {
		return err
	}
	for _, name := range picked {
		if err := g.pools[name].Change(edit); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// CheckChange returns what Change would, and changes nothing.
func (g *Group) CheckChange(name string, edit func(*Options)) error {
	g.mutex.RLock()
	defer g.mutex.RUnlock()
	_, err := g.check(name, edit)
	return err
}

// check returns the names that name stands for, if all of them can be changed.
func (g *Group) check(name string, edit func(*Options)) ([]string, error) {
	picked, err := g.pick(name)
	if err != nil {
		return nil, err
	}
	for _, name := range picked {
		options := g.pools[name].Options()
		edit(&options)
		if err := g.pools[name].whyNot(options); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return picked, nil
}

// pick returns the names that name stands for.
func (g *Group) pick(name string) ([]string, error) {
	if name == "" {
		return g.names, nil
	}
	if g.pools[name] == nil {
		return nil, fmt.Errorf("harena/scope: no method %q; known are %s", name, strings.Join(g.names, ", "))
	}
	return []string{name}, nil
}
