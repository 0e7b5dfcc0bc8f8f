//go:build race || harena_debug

package trpcgo_test

// The race detector makes sync.Pool drop things at random, and harena_debug drops all memory.
const recycling = false
