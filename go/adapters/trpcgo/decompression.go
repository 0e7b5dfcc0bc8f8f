package trpcgo

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/golang/snappy"
	"trpc.group/trpc-go/trpc-go/codec"
	"trpc.group/trpc-go/trpc-go/errs"

	"github.com/harena-project/harena/go/scope"
)

// BoundDecompression makes trpc-go's own decompressors (gzip, zlib, snappy in its three forms) stop
// where a body would become longer than bytesMax bytes, for all servers and clients of the process.
// Without it a body that trpc-go lets in may become a thousand times as large, and takes that much
// memory before any limit of Harena sees it.
//
// Call it before servers and clients start, as trpc-go asks of [codec.RegisterCompressor]; once more,
// and the new bound holds. Compressors of other makes that are registered stay as they are. It panics
// when bytesMax is not positive.
//
// A server answers RetServerDecodeFail, and where the method is one of Harena's, RetServerOverload, and
// counts the request in Stats.RefusedBy.RequestBytesMax. A client gets RetClientDecodeFail.
func BoundDecompression(bytesMax int) {
	if bytesMax <= 0 {
		panic(fmt.Sprintf("harena/trpcgo: BoundDecompression(%d): the bound must be positive", bytesMax))
	}
	for _, kind := range []int{codec.CompressTypeGzip, codec.CompressTypeSnappy, codec.CompressTypeZlib,
		codec.CompressTypeStreamSnappy, codec.CompressTypeBlockSnappy} {
		compressor := codec.GetCompressor(kind)
		if bounded, ok := compressor.(*boundedCompressor); ok {
			compressor = bounded.Compressor
		}
		bounded := &boundedCompressor{Compressor: compressor, bytesMax: bytesMax}
		switch compressor.(type) {
		case *codec.GzipCompress:
			bounded.decompress = bounded.gunzip
		case *codec.ZlibCompress:
			bounded.decompress = bounded.inflate
		case *codec.SnappyCompress:
			bounded.decompress = bounded.unsnap
		case *codec.SnappyBlockCompressor:
			bounded.decompress = bounded.unsnapBlock
		default:
			continue
		}
		codec.RegisterCompressor(kind, bounded)
	}
}

// boundedCompressor is one of trpc-go's, but for how it decompresses: into no more than bytesMax bytes
// of memory that nobody writes to afterwards.
type boundedCompressor struct {
	codec.Compressor
	bytesMax   int
	decompress func(in []byte) ([]byte, error)
	readers    sync.Pool
}

// Decompress decompresses as trpc-go does, and no further than to the bound.
func (c *boundedCompressor) Decompress(in []byte) ([]byte, error) {
	if len(in) == 0 {
		return in, nil
	}
	return c.decompress(in)
}

const boundExceeded = "harena/trpcgo: BoundDecompression: "

func (c *boundedCompressor) tooLong() error {
	return fmt.Errorf("%sthe body is longer than %d bytes", boundExceeded, c.bytesMax)
}

func (c *boundedCompressor) readAll(r io.Reader) ([]byte, error) {
	out, err := io.ReadAll(&io.LimitedReader{R: r, N: int64(c.bytesMax) + 1})
	if err != nil {
		return nil, err
	}
	if len(out) > c.bytesMax {
		return nil, c.tooLong()
	}
	return out, nil
}

func (c *boundedCompressor) gunzip(in []byte) ([]byte, error) {
	reader, ok := c.readers.Get().(*gzip.Reader)
	if !ok {
		reader = new(gzip.Reader)
	}
	defer c.readers.Put(reader)
	if err := reader.Reset(bytes.NewReader(in)); err != nil {
		return nil, err
	}
	return c.readAll(reader)
}

func (c *boundedCompressor) inflate(in []byte) ([]byte, error) {
	reader, err := zlib.NewReader(bytes.NewReader(in))
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	return c.readAll(reader)
}

func (c *boundedCompressor) unsnap(in []byte) ([]byte, error) {
	reader, ok := c.readers.Get().(*snappy.Reader)
	if !ok {
		reader = snappy.NewReader(nil)
	}
	defer c.readers.Put(reader)
	reader.Reset(bytes.NewReader(in))
	return c.readAll(reader)
}

func (c *boundedCompressor) unsnapBlock(in []byte) ([]byte, error) {
	length, err := snappy.DecodedLen(in)
	if err != nil {
		return nil, err
	}
	if length > c.bytesMax {
		return nil, c.tooLong()
	}
	return snappy.Decode(nil, in)
}

// refusedLong returns what a client sees when a request of the method was longer than the bound, and
// counts it. Of trpc-go's error there is only the text. Otherwise it returns err.
func (m *method) refusedLong(err error) error {
	if err == nil || errs.Code(err) != errs.RetServerDecodeFail {
		return err
	}
	_, sentence, found := strings.Cut(errs.Msg(err), boundExceeded)
	if !found {
		return err
	}
	m.pool.Refuse(scope.RequestBytesMax)
	return errs.NewFrameError(errs.RetServerOverload, "harena/trpcgo: "+m.name+": BoundDecompression: "+sentence)
}
