//go:build !race

package trpcgo_test

// useTnet says whether servers and clients use tnet where trpc-go takes it by default.
const useTnet = true
