package trpcgo

import (
	"context"

	"trpc.group/trpc-go/trpc-go/restful"

	"github.com/harena-project/harena/go/scope"
)

// bindings returns the method's RESTful routes, whose handlers have a scope too. Messages are
// trpc-go's own: they come from paths, queries and JSON bodies.
func (m *method) bindings(plain []*restful.Binding) []*restful.Binding {
	if plain == nil {
		return nil
	}
	wrapped := make([]*restful.Binding, len(plain))
	for i, binding := range plain {
		copied := *binding
		copied.Filter = m.rest(binding.Filter)
		wrapped[i] = &copied
	}
	return wrapped
}

func (m *method) rest(inner restful.HandleFunc) restful.HandleFunc {
	return func(impl any, ctx context.Context, request any) (out any, err error) {
		s := m.pool.Get()
		defer s.Abandon() // the reply is yet to be encoded
		defer m.panics().Recover(s.Options(), &err)
		out, err = inner(impl, scope.NewContext(ctx, s), request)
		return out, m.panics().Returned(err, s.Err(), s.Options())
	}
}
