package trpcgo_test

import (
	"bytes"
	"runtime"
	"strings"
	"testing"

	"trpc.group/trpc-go/trpc-go/client"
	"trpc.group/trpc-go/trpc-go/codec"
	"trpc.group/trpc-go/trpc-go/errs"

	"github.com/harena-project/harena/go/adapters/trpcgo"
	"github.com/harena-project/harena/go/adapters/trpcgo/internal/testpb"
	"github.com/harena-project/harena/go/pb/echotest"
)

const boundBytes = 1 << 20

var compressTypes = map[string]int{
	"gzip": codec.CompressTypeGzip, "zlib": codec.CompressTypeZlib, "snappy": codec.CompressTypeSnappy,
	"stream snappy": codec.CompressTypeStreamSnappy, "block snappy": codec.CompressTypeBlockSnappy,
}

// bounded calls BoundDecompression, and takes it back when the test ends.
func bounded(t *testing.T, bytesMax int) {
	for _, kind := range compressTypes {
		before := codec.GetCompressor(kind)
		t.Cleanup(func() { codec.RegisterCompressor(kind, before) })
	}
	trpcgo.BoundDecompression(bytesMax)
}

// Decompression stops before the memory is taken, and bodies within the bound are what they were.
func TestBoundDecompressionStopsInTime(t *testing.T) {
	bounded(t, boundBytes)
	for name, kind := range compressTypes {
		for _, size := range []int{1, 1000, boundBytes - 1, boundBytes, boundBytes + 1, 64 << 20} {
			body := bytes.Repeat([]byte{'x'}, size)
			small, err := codec.Compress(kind, body)
			if err != nil {
				t.Fatal(name, err)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			out, err := codec.Decompress(kind, small)
			runtime.ReadMemStats(&after)
			if size <= boundBytes {
				if err != nil || !bytes.Equal(out, body) {
					t.Errorf("%s of %d bytes: %d bytes, %v", name, size, len(out), err)
				}
				continue
			}
			if err == nil || !strings.Contains(err.Error(), "longer than 1048576 bytes") {
				t.Errorf("%s of %d bytes: %v", name, size, err)
			}
			if took := after.TotalAlloc - before.TotalAlloc; took > 10*boundBytes {
				t.Errorf("%s of %d bytes took %d on the way to the bound", name, size, took)
			}
		}
		if _, err := codec.Decompress(kind, []byte("\x80 this is nothing compressed")); err == nil {
			t.Errorf("%s: garbage is accepted", name)
		}
	}
}

// A server answers as for its other limits, counts the request, and serves the next one.
func TestBoundDecompressionRefuses(t *testing.T) {
	bounded(t, boundBytes)
	f := start(t, &echo{}, trpcgo.Options{})
	refused := uint64(0)
	for name, kind := range compressTypes {
		_, err := f.client.Say(testContext(t), &testpb.Note{Text: strings.Repeat("x", 5<<20)}, client.WithCompressType(kind))
		wantCode(t, err, errs.RetServerOverload, sayName, "BoundDecompression", "longer than 1048576 bytes")
		refused++
		out, err := f.client.Say(testContext(t), echotest.New("a request of good size"), client.WithCompressType(kind))
		if err != nil || out.Text != "A REQUEST OF GOOD SIZE" {
			t.Errorf("%s: %v, %v", name, out, err)
		}
	}
	m := f.settled(t, "Say")
	if m.RefusedBy.RequestBytesMax != refused || m.ScopesStarted != 2*refused || m.ScopesRetained != refused {
		t.Errorf("%d refusals count as %+v", refused, m)
	}
}

type otherCompressor struct{ codec.NoopCompress }

// Compressors of other makes stay, a second call sets another bound, and no bound is a mistake.
func TestBoundDecompressionOnceMore(t *testing.T) {
	bounded(t, 10)
	if _, err := codec.Decompress(codec.CompressTypeGzip, compressed(t, 11)); err == nil {
		t.Error("11 bytes pass a bound of 10")
	}
	other := new(otherCompressor)
	codec.RegisterCompressor(codec.CompressTypeZlib, other)
	trpcgo.BoundDecompression(boundBytes)
	if out, err := codec.Decompress(codec.CompressTypeGzip, compressed(t, boundBytes)); err != nil || len(out) != boundBytes {
		t.Errorf("%d bytes, %v", len(out), err)
	}
	if codec.GetCompressor(codec.CompressTypeZlib) != codec.Compressor(other) {
		t.Error("another compressor was replaced")
	}
	defer func() {
		if recover() == nil {
			t.Error("a bound of nothing is accepted")
		}
	}()
	trpcgo.BoundDecompression(0)
}

func compressed(t *testing.T, size int) []byte {
	out, err := codec.Compress(codec.CompressTypeGzip, bytes.Repeat([]byte{'x'}, size))
	if err != nil {
		t.Fatal(err)
	}
	return out
}
