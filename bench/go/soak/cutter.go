package soak

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync"
)

// Cutter is a port that leads to a server and ends each connection after some bytes, half of them with
// a reset, as when a process is killed.
//
// Thread rule: any goroutine.
type Cutter struct {
	listener net.Listener
	server   string
	bytesMax int64
	running  sync.WaitGroup
	mutex    sync.Mutex
	open     map[net.Conn]bool // nil after Close
}

// NewCutter begins to listen. Each connection lasts for 1 to bytesMax bytes, of either direction.
func NewCutter(serverPort int, bytesMax int64) (*Cutter, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	c := &Cutter{listener: listener, server: fmt.Sprintf("127.0.0.1:%d", serverPort), bytesMax: bytesMax,
		open: make(map[net.Conn]bool)}
	c.running.Go(c.accept)
	return c, nil
}

// Port returns where it listens.
func (c *Cutter) Port() int { return c.listener.Addr().(*net.TCPAddr).Port }

// Close ends all connections.
func (c *Cutter) Close() {
	_ = c.listener.Close()
	c.mutex.Lock()
	for conn := range c.open {
		_ = conn.Close()
	}
	c.open = nil
	c.mutex.Unlock()
	c.running.Wait()
}

func (c *Cutter) accept() {
	for {
		client, err := c.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", c.server)
		if err != nil {
			_ = client.Close()
			continue
		}
		if !c.add(client, server) {
			return
		}
		c.running.Go(func() { c.lead(client, server) })
	}
}

// add notes two connections, or closes them when all is over.
func (c *Cutter) add(conns ...net.Conn) bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for _, conn := range conns {
		if c.open == nil {
			_ = conn.Close()
		} else {
			c.open[conn] = true
		}
	}
	return c.open != nil
}

func (c *Cutter) lead(client, server net.Conn) {
	left := 1 + rand.Int64N(c.bytesMax)
	reset := rand.IntN(2) == 0
	var once sync.Once
	end := func() {
		for _, conn := range []net.Conn{client, server} {
			if tcp, ok := conn.(*net.TCPConn); ok && reset {
				_ = tcp.SetLinger(0)
			}
			_ = conn.Close()
			c.mutex.Lock()
			delete(c.open, conn)
			c.mutex.Unlock()
		}
	}
	defer once.Do(end)
	var mutex sync.Mutex
	var copies sync.WaitGroup
	for _, way := range [][2]net.Conn{{client, server}, {server, client}} {
		copies.Go(func() {
			_, _ = io.Copy(&limited{way[1], &mutex, &left}, way[0])
			once.Do(end)
		})
	}
	copies.Wait()
}

// limited writes until the bytes that both directions share are spent.
type limited struct {
	to    io.Writer
	mutex *sync.Mutex
	left  *int64
}

var errSpent = errors.New("the connection is over")

func (l *limited) Write(data []byte) (int, error) {
	l.mutex.Lock()
	part := data[:min(int64(len(data)), *l.left)]
	*l.left -= int64(len(part))
	l.mutex.Unlock()
	n, err := l.to.Write(part)
	if err == nil && n < len(data) {
		err = errSpent
	}
	return n, err
}
