// Package arena hands out memory that is taken back all at once.
//
//	a := arena.New()
//	defer a.Free()
//	p := arena.NewOf[Person](a)
//
// An arena suits values that are born and die together, as a request's do. They are then not worth the
// garbage collector's attention one by one: the arena zeroes and reuses their memory, and a program
// that does so for most of its values hardly collects at all.
//
// # Why it is sound
//
// Memory is never untyped. Each type has chunks of its own, allocated as []T by the runtime, so that
// the garbage collector knows where every pointer in them is: an object in an arena may refer to
// anything, on the heap or in any arena, and keeps it alive. Pointers are stored with write barriers,
// by the compiler's code, and cleared with write barriers, by reflect. Memory is zeroed when it is
// taken back and not when it is handed out, so that what was there before is neither visible to the
// next user nor kept alive by a stale reference.
//
// Chunks are ordinary Go memory. A pointer into one keeps it alive, also when the arena is gone; an
// arena that nobody frees is collected like everything else. No address is ever unmapped, and no
// memory ever changes its type.
//
// Strings made by [Arena.String] live in chunks that are written once and never reused. They are
// valid for ever, since nothing in Go lets a program see that a string will change.
//
// # What a misuse comes to
//
// The rule that the compiler does not hold is this one: do not use what an arena handed out after
// [Arena.Reset] or [Arena.Free]. A pointer that was kept reads zeroes, or values of the same type that
// a later user wrote; a write through it changes that user's values. That is a bug, and it may show
// one request's data to another. As long as it is not used at the same time as the next user's, it is
// still a pointer to a T.
//
// Use at the same time is a data race, and worse, as everywhere in Go. A goroutine that goes on reading a
// slice, a string or an interface while the next user writes it may see half of each: the address of one
// with the length or the type of the other. What it reads and writes through that is any memory of the
// program, and nothing that this package says holds any more. One that goes on using a map may end the
// program. The usual ways there are
//
//   - a value kept in a global, a cache, a logger or a trace,
//   - a goroutine or a timer that outlives the request,
//   - a map of the arena, or a slice, returned to a caller who keeps it,
//   - bytes made by [Arena.Bytes] and converted to a string without a copy.
//
// There are three ways out. [Arena.Retain] leaves the memory of the current round to the garbage
// collector, so that everything that was handed out stays valid for ever; it is the answer when a
// request turns out to live on, and may be called at any time before the Reset. [Clone] copies one
// value, slice or string to the heap. And whatever is known to live on is better made with `new`.
//
// # What finds a misuse
//
//   - `go vet -vettool=harena-vet` flags values that leave a function for a place that outlives it.
//   - The race detector reports a goroutine that uses memory while, or after, another one resets it
//     without synchronization.
//   - Builds with the tag harena_debug do not reuse memory. After Reset and Free it is poisoned:
//     numbers are 0xDB bytes, strings say "harena/arena: read after Reset", pointers, slices, maps and
//     interfaces are nil. It stays in quarantine for some rounds, and a write to it is reported with
//     the type, the field and the place of the Reset, see [OnStaleWrite]. True is the poison of a
//     bool; a write of the poison itself, or of padding, is not seen.
//   - A double Free, a use after Free, and the use of a copy of an arena panic in every build, the
//     last when the copy needs new memory.
//
// # What it costs, and when it loses
//
// [Kind] allocates a small value in about a tenth of the time of `new`, collection included, and
// [NewOf] in about an eighth, where an arena is reset often and its memory stays in the caches. Reset
// takes time in proportion to what was used.
//
// An arena loses where its idea does not fit. The collector scans chunks that hold pointers as long as
// they are in use: an arena that grows to hundreds of megabytes costs about what plain allocation
// does. One live value keeps its whole chunk of up to 64 KiB, or 1 MiB in a large arena. A round that
// is retained pays for new memory. Finalizers, cleanups and weak pointers see chunks and not single
// values; runtime.SetFinalizer ends the program on most of them. On 32-bit machines the first word of a
// struct is not always aligned for 64-bit atomic functions, as it is after `new`; the types of
// sync/atomic are. A type that is used once pays for a chunk of 1 KiB. And an arena that uses a great many
// types has a slab for each of them.
//
// Maps are the runtime's; the arena only keeps and clears them. A map's entries are not counted
// against a bound.
//
// # Bounds
//
// [Arena.SetBytesMax] bounds what one round takes; see [LimitError]. Beyond it, a process that has no
// memory left ends, as every Go program does: the runtime reports that by no value or panic.
// A [Pool] bounds what it keeps in total and per arena, and lets go of what stays idle.
//
// An allocation over a bound panics, on the goroutine that makes it. [Arena.Lend] is for arenas of
// goroutines where nobody recovers that: they go on with memory of the heap.
package arena
