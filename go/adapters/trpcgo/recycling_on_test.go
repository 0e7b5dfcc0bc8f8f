//go:build !race && !harena_debug

package trpcgo_test

// recycling says whether pools keep what they are given, so that allocations can be counted.
const recycling = true
