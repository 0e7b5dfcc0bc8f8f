package config

import (
	"slices"
	"strings"

	"github.com/harena-project/harena/go/scope"
)

// CheckGo says what a Go program cannot do of the settings: the modes that only C++ has.
func (c *Config) CheckGo() error {
	var found problems
	c.For("").checkGo(&found)
	for _, name := range c.Methods() {
		c.For(name).checkGo(&found)
	}
	return found.err()
}

func (s Settings) checkGo(found *problems) {
	mode, given := s[ModeKey]
	if !given {
		return
	}
	if _, err := scope.ParseMode(mode.Text); err != nil {
		found.add(mode.Place, "mode %s is for C++ alone; Go has codec and heap", mode.Text)
	}
}

// ForCpp returns the names of the settings that are there and that a Go program leaves unread.
func (c *Config) ForCpp() []string {
	var all []string
	for _, k := range allKeys {
		_, given := c.Process()[k.name]
		_, inDefaults := c.For("")[k.name]
		inMethod := slices.ContainsFunc(c.Methods(), func(name string) bool {
			_, given := c.For(name)[k.name]
			return given
		})
		if k.cppOnly && (given || inDefaults || inMethod) {
			all = append(all, k.name)
		}
	}
	return all
}

// ServiceOptions returns the options of a service that is about to be made with the settings laid over
// them, those too that cannot change later. methods are the full names of the service's methods.
func (c *Config) ServiceOptions(code scope.ServiceOptions, methods ...string) (scope.ServiceOptions, error) {
	if err := c.CheckGo(); err != nil {
		return code, err
	}
	options := code
	options.Methods = make(map[string]scope.MethodOptions, len(methods))
	for _, name := range methods {
		own := code.Method(name)
		inner := own.Scope()
		settings := c.For(name)
		settings.lay(&inner)
		named := scope.MethodOptions{
			Mode:              inner.Mode,
			RequestBytesMax:   named(inner.RequestBytesMax, code.RequestBytesMax),
			DecodedRatioMax:   named(inner.DecodedRatioMax, code.DecodedRatioMax),
			DecodedFloorBytes: inner.DecodedFloorBytes,
			DepthMax:          named(inner.DepthMax, code.DepthMax),
			QuarantineOneIn:   inner.QuarantineOneIn,
			StreamScope:       own.StreamScope,
		}
		if err := settings.explain(name, named.Validate()); err != nil {
			return code, err
		}
		options.Methods[name] = named
	}
	if v, given := c.Process()[ProcessBytesMaxKey]; given {
		options.ProcessBytesMax = v.Int
	}
	return options, nil
}

// named is how a method's options say a limit: what is the service's they do not name.
func named[T int | int64 | float64](limit, service T) T {
	switch limit {
	case service:
		return 0
	case 0:
		return scope.NoLimit
	}
	return limit
}

// lay sets the options that the settings have.
func (s Settings) lay(o *scope.Options) {
	for _, k := range methodKeys {
		if v, given := s[k.name]; given {
			v.lay(k.name, o)
		}
	}
}

// lay sets the option of that key. No limit is 0 in Go.
func (v Value) lay(key string, o *scope.Options) {
	switch key {
	case ModeKey:
		if mode, err := scope.ParseMode(v.Text); err == nil {
			o.Mode = mode
		}
	case RequestBytesMaxKey:
		o.RequestBytesMax = v.Int
	case DecodedRatioMaxKey:
		o.DecodedRatioMax = v.Float
	case DecodedFloorBytesKey:
		o.DecodedFloorBytes = v.Int
	case DepthMaxKey:
		o.DepthMax = int(v.Int)
	case QuarantineOneInKey:
		o.QuarantineOneIn = int(v.Int)
	}
}

// restore sets the option of that key as the code has it.
func restore(key string, o *scope.Options, code scope.Options) {
	switch key {
	case ModeKey:
		o.Mode = code.Mode
	case RequestBytesMaxKey:
		o.RequestBytesMax = code.RequestBytesMax
	case DecodedRatioMaxKey:
		o.DecodedRatioMax = code.DecodedRatioMax
	case DecodedFloorBytesKey:
		o.DecodedFloorBytes = code.DecodedFloorBytes
	case DepthMaxKey:
		o.DepthMax = code.DepthMax
	}
}

// explain says where it is from that a method cannot have the options that the settings led to.
func (s Settings) explain(method string, err error) error {
	if err == nil {
		return nil
	}
	at := Place{Source: method}
	if mode, given := s[ModeKey]; given {
		at = mode.Place
	} else {
		for _, k := range methodKeys {
			if v, given := s[k.name]; given {
				at = v.Place
				break
			}
		}
	}
	reason := strings.TrimPrefix(strings.TrimPrefix(err.Error(), method+": "), "harena/scope: ")
	return &Error{[]Problem{{at, method + ": " + reason}}}
}
