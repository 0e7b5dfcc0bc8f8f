package scope

import "context"

type contextKey struct{}

// Source gives the scope that is current at the moment, for contexts that outlive single scopes, as a
// stream's does. See [NewContextWith].
type Source interface {
	// Scope returns the current scope, or nil.
	Scope() *Scope
	// Retain keeps everything valid that was handed to the user and has not ended.
	Retain()
}

// NewContext returns a context that carries s.
func NewContext(ctx context.Context, s *Scope) context.Context {
	return context.WithValue(ctx, contextKey{}, s)
}

// Context is a context that carries a scope, for structs that hold it by value: NewContext without an
// allocation. Both fields are to be set before it is used, and never again.
type Context struct {
	context.Context
	Scope *Scope
}

// Value returns what From looks for, and what the wrapped context has.
func (c *Context) Value(key any) any {
	if key == (contextKey{}) {
		return c.Scope
	}
	return c.Context.Value(key)
}

// NewContextWith returns a context whose scope changes: From asks the source each time.
func NewContextWith(ctx context.Context, source Source) context.Context {
	return context.WithValue(ctx, contextKey{}, source)
}

// From returns the scope of the context, or nil when it has none.
func From(ctx context.Context) *Scope {
	switch v := ctx.Value(contextKey{}).(type) {
	case *Scope:
		return v
	case Source:
		return v.Scope()
	}
	return nil
}

// Retain keeps what belongs to the context's request valid beyond its end. Without a scope it does
// nothing: then messages are ordinary ones and valid anyway.
func Retain(ctx context.Context) {
	switch v := ctx.Value(contextKey{}).(type) {
	case *Scope:
		v.Retain()
	case Source:
		v.Retain()
	}
}
