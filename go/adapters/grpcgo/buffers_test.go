package grpcgo

import "testing"

func TestBuffers(t *testing.T) {
	p := new(bufferPool)
	for _, length := range []int{0, 1, 2048, 2049, 200_000, 1 << 24, 1<<24 + 1} {
		for range 3 {
			buffer := p.Get(length)
			if len(*buffer) != length || cap(*buffer) > 2*length && cap(*buffer) > 2048 {
				t.Errorf("Get(%d) gives %d bytes of %d", length, len(*buffer), cap(*buffer))
			}
			*buffer = (*buffer)[:length/2] // whoever writes less
			p.Put(buffer)
		}
	}
	for _, size := range []int{0, 100, 1000, 3000, 1 << 25} { // not the pool's, and never handed out
		foreign := make([]byte, size)
		p.Put(&foreign)
		if got := p.Get(max(size, 1)); len(foreign) > 0 && &(*got)[0] == &foreign[0] {
			t.Errorf("a buffer of %d bytes was kept", size)
		}
	}
}
