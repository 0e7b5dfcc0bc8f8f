// Package live is a page about a running server: what each method's requests take, what was refused, and
// switches for modes and limits.
//
//	listener, err := live.Listen("127.0.0.1:9090", live.Options{})
//	...
//	defer listener.Close()
//
// shows it at http://127.0.0.1:9090/harena. [NewHandler] is for servers that have a listener already. It
// speaks of every server of the process that the adapters made ([scope.AllServed]); nothing is to be
// registered.
//
// # What it gives away, and to whom
//
// Names of methods, their settings and counts, to everybody on this machine; never what is in a message.
// Without [Options.Token] nothing can be changed and other machines are told nothing. With it, changes
// need it, and from other machines everything does, but for the page's own files. The connection is not
// encrypted: beyond this machine put something in front that does it.
//
// The same page and the same answers come from C++ servers (harena::live).
package live
