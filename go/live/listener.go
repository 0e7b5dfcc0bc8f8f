package live

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// Bounds of the listener, so that nobody can occupy the server through it.
const (
	connectionsMax = 64
	headerBytesMax = 16 << 10
	readTimeout    = 10 * time.Second
	writeTimeout   = 30 * time.Second
	idleTimeout    = time.Minute
)

// Listener serves the page on an address of its own.
//
// Thread rule: any goroutine.
type Listener struct {
	handler *Handler
	server  *http.Server
	address net.Addr
	served  chan error
}

// Listen serves the page at http://address/harena until Close. The address is "127.0.0.1:9090", with
// port 0 for any; one that other machines can reach is refused unless there is a token.
func Listen(address string, options Options) (*Listener, error) {
	options, err := options.withEnvironment()
	if err != nil {
		return nil, err
	}
	resolved, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("harena/live: %q is not an address to listen on, such as 127.0.0.1:9090: %w", address, err)
	}
	if !resolved.IP.IsLoopback() && options.Token == "" {
		return nil, fmt.Errorf("harena/live: other machines can reach %q, which needs a token: set Options.Token or %s, "+
			"or listen on 127.0.0.1", address, TokenVariable)
	}
	handler, err := NewHandler(options)
	if err != nil {
		return nil, err
	}
	listener, err := net.ListenTCP("tcp", resolved)
	if err != nil {
		handler.Close()
		return nil, fmt.Errorf("harena/live: %w", err)
	}
	within := newBounded(listener)
	l := &Listener{handler: handler, address: listener.Addr(), served: make(chan error, 1), server: &http.Server{
		Handler:        handler,
		ReadTimeout:    readTimeout,
		WriteTimeout:   writeTimeout,
		IdleTimeout:    idleTimeout,
		MaxHeaderBytes: headerBytesMax,
		ConnState:      within.observe,
	}}
	go func() { l.served <- l.server.Serve(within) }()
	return l, nil
}

// Addr returns the address that it listens on.
func (l *Listener) Addr() net.Addr { return l.address }

// Close ends it, at once for those who are asking. Call it once.
func (l *Listener) Close() error {
	err := l.server.Close()
	if served := <-l.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	l.handler.Close()
	return err
}
