// Package scope has the declarations of the real one, for the analyzer's tests.
package scope

import (
	"context"

	"github.com/harena-project/harena/go/arena"
)

type Scope struct{}

func From(ctx context.Context) *Scope   { return nil }
func (s *Scope) Arena() *arena.Arena    { return nil }
func Retain(ctx context.Context)        {}
func (s *Scope) NewArena() *arena.Arena { return nil }
func (s *Scope) Retain()                {}
