package live

import (
	"container/list"
	"net"
	"net/http"
	"sync"
)

// bounded keeps a bounded number of connections open. There is always room for one more: the one that
// has been waiting for its client longest has to go, so that clients who hold connections and ask
// nothing keep nobody else out.
type bounded struct {
	net.Listener

	mutex sync.Mutex
	open  *list.List // of *placed, those first that have been waiting longest
}

func newBounded(listener net.Listener) *bounded {
	return &bounded{Listener: listener, open: list.New()}
}

func (b *bounded) Accept() (net.Conn, error) {
	connection, err := b.Listener.Accept()
	if err != nil {
		return nil, err
	}
	b.mutex.Lock()
	defer b.mutex.Unlock()
	p := &placed{Conn: connection, within: b}
	p.place = b.open.PushBack(p)
	if b.open.Len() > connectionsMax {
		first := b.open.Front().Value.(*placed)
		b.leaveLocked(first)
		first.Conn.Close()
	}
	return p, nil
}

// observe is for [http.Server.ConnState]: when a client has got its answer, its next wait begins.
func (b *bounded) observe(connection net.Conn, state http.ConnState) {
	p, ours := connection.(*placed)
	if !ours || state != http.StateIdle {
		return
	}
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if p.place != nil {
		b.open.MoveToBack(p.place)
	}
}

func (b *bounded) leaveLocked(p *placed) {
	if p.place != nil {
		b.open.Remove(p.place)
		p.place = nil
	}
}

// placed gives its place back when it closes.
type placed struct {
	net.Conn
	within *bounded
	place  *list.Element // nil when it has none any more; guarded by within.mutex
}

func (p *placed) Close() error {
	p.within.mutex.Lock()
	p.within.leaveLocked(p)
	p.within.mutex.Unlock()
	return p.Conn.Close()
}
