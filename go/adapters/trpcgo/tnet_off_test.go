//go:build race

package trpcgo_test

// The race detector brings checkptr with it, which tnet's poller does not pass.
const useTnet = false
