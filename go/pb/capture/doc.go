// Package capture writes sampled calls of a server to files, for `harena replay`. It knows no
// framework: the adapters hand it messages, and programs of other frameworks may as well.
//
//	c, err := capture.New(capture.Options{Directory: "/var/lib/service/capture", OneIn: 1000})
//	...
//	defer c.Close() // when the server has stopped
//
// The adapters' lines then name the methods: grpcgo.CaptureUnaryInterceptor(c, "/feed.Feed/Rank"),
// connectgo.CaptureInterceptor, trpcgo.CaptureFilter. The files are those that the C++ library writes;
// docs/replay.md is the guide.
//
// A capture holds what callers sent and were answered, whole: passwords, names, addresses. Turn it on
// where that may lie on this machine's disk, and remove the files. [Reader] is for programs that take
// out of them what is nobody's business.
package capture
