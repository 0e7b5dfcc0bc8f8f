package scope

import (
	"context"
	"testing"
)

type fakeSource struct {
	current  *Scope
	retained bool
}

func (f *fakeSource) Scope() *Scope { return f.current }
func (f *fakeSource) Retain()       { f.retained = true }

func TestContext(t *testing.T) {
	ctx := context.Background()
	if From(ctx) != nil {
		t.Error("a context without a scope has one")
	}
	Retain(ctx) // nothing to do, and no panic

	s := newPool(t, Options{}).Get()
	defer s.End()
	in := NewContext(ctx, s)
	if From(in) != s {
		t.Error("From does not return the scope")
	}
	Retain(in)
	if !s.Retained() {
		t.Error("Retain does not reach the scope")
	}

	type key struct{}
	in = &Context{Context: context.WithValue(ctx, key{}, "value"), Scope: s}
	if From(in) != s || in.Value(key{}) != "value" || From(context.WithoutCancel(in)) != s {
		t.Error("a Context does not carry the scope and what it wraps")
	}

	source := &fakeSource{}
	in = NewContextWith(ctx, source)
	if From(in) != nil {
		t.Error("From returns a scope that the source does not have")
	}
	source.current = s
	Retain(in)
	if From(in) != s || !source.retained {
		t.Error("the context does not ask its source")
	}
}
