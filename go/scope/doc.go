// Package scope is one request's memory: an arena, a byte budget and a mode that belong together and
// end together. It knows nothing of RPC; the adapters begin and end scopes, and handlers find theirs
// by [From].
//
//	s := scope.From(ctx)
//	reply := arena.NewOf[pb.Reply](s.Arena())
//
// # Who ends a scope
//
// A scope has one owner at a time, and the owner ends it exactly once; a second [Scope.End] panics.
// An owner that cannot rule out that somebody still works on the memory calls [Scope.Abandon]
// instead, which leaves the memory to the garbage collector and is safe at any moment.
//
// # Outliving the request
//
// [Scope.Retain] keeps every pointer valid for ever: the memory is left to the garbage collector
// instead of being reused. It costs what ordinary allocation costs, for that one request.
//
// # Settings while running
//
// A [Pool] makes the scopes of one method and a [Group] holds the pools of a service. Mode and limits
// may be changed at any time. Scopes that have begun finish as they began.
package scope
