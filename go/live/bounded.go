package live

import (
	"net"
	"sync"
)

// bounded serves a bounded number of connections at a time, and closes what comes beyond.
type bounded struct {
	net.Listener
	places chan struct{}
}

func (b bounded) Accept() (net.Conn, error) {
	connection, err := b.Listener.Accept()
	if err != nil {
		return nil, err
	}
	select {
	case b.places <- struct{}{}:
		return &placed{Conn: connection, leave: sync.OnceFunc(func() { <-b.places })}, nil
	default:
		// Nobody waits for a place, or the end of the listener would wait too.
		connection.Close()
		return b.Accept()
	}
}

// placed gives its place back when it closes.
type placed struct {
	net.Conn
	leave func()
}

func (p *placed) Close() error {
	p.leave()
	return p.Conn.Close()
}
