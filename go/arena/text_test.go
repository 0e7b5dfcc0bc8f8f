package arena

import (
	"bytes"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"unsafe"
)

func TestStringsStayValidForEver(t *testing.T) {
	pool := &Pool{}
	defer pool.Close()
	a := pool.Get()
	var got, want []string
	for i := range 20_000 {
		text := strings.Repeat(strconv.Itoa(i), 1+i%40)
		got, want = append(got, a.String(text)), append(want, text)
		switch {
		case i%3000 == 0:
			a.Free()
			a = pool.Get()
			runtime.GC()
		case i%500 == 0:
			a.Reset()
		}
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("string %d changed to %q", i, got[i])
		}
	}
}

func TestStringCopies(t *testing.T) {
	a := ownPool(t)
	for _, length := range []int{1, textSharedBytesMax, textSharedBytesMax + 1, 100_000} {
		source := bytes.Repeat([]byte{'x'}, length)
		text := a.String(unsafe.String(&source[0], length))
		source[length-1] = 'y'
		if text != strings.Repeat("x", length) {
			t.Errorf("length %d: the copy changed with the source", length)
		}
	}
	if a.String("") != "" {
		t.Error("empty")
	}
}

func TestBytesCopies(t *testing.T) {
	a := ownPool(t)
	source := []byte("source")
	copied := a.Bytes(source)
	source[0] = 'X'
	if string(copied) != "source" || cap(copied) != len(copied) {
		t.Errorf("%q with capacity %d", copied, cap(copied))
	}
	if a.Bytes(nil) != nil {
		t.Error("nil stays nil")
	}
	if empty := a.Bytes([]byte{}); empty == nil || len(empty) != 0 {
		t.Error("empty stays empty")
	}
}
