// Command interop is trpc-go's half of the interop test with tRPC-Cpp, as a server on scopes or as a
// plain client of harena.test.echo.Echo:
//
//	interop server             prints its port, ends with its standard input
//	interop client HOST:PORT   prints how many calls were answered as they should
package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"

	trpc "trpc.group/trpc-go/trpc-go"
	"trpc.group/trpc-go/trpc-go/client"
	"trpc.group/trpc-go/trpc-go/codec"
	"trpc.group/trpc-go/trpc-go/errs"
	"trpc.group/trpc-go/trpc-go/log"
	"trpc.group/trpc-go/trpc-go/server"

	"google.golang.org/protobuf/proto"

	"github.com/harena-project/harena/go/adapters/trpcgo"
	"github.com/harena-project/harena/go/adapters/trpcgo/internal/testpb"
)

func main() {
	log.SetLevel("0", log.LevelFatal)
	var err error
	switch {
	case len(os.Args) == 2 && os.Args[1] == "server":
		err = serve()
	case len(os.Args) == 3 && os.Args[1] == "client":
		fmt.Println(callAll("ip://"+os.Args[2]), "answered")
	default:
		err = fmt.Errorf("usage: %s server | client HOST:PORT", os.Args[0])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// echo answers as tRPC-Cpp's half does. What a test does not call is not there.
type echo struct{ testpb.EchoService }

func (echo) Say(_ context.Context, in *testpb.Note) (*testpb.Note, error) { return shout(in), nil }

func (echo) Fail(_ context.Context, in *testpb.Note) (*testpb.Note, error) {
	return nil, errs.New(int(in.Number), in.Text)
}

// shout returns the note with its texts in upper case.
func shout(in *testpb.Note) *testpb.Note {
	out := &testpb.Note{Text: strings.ToUpper(in.Text), Number: in.Number, Blob: in.Blob, Author: in.Author}
	for _, text := range in.Texts {
		out.Texts = append(out.Texts, strings.ToUpper(text))
	}
	for _, child := range in.Children {
		out.Children = append(out.Children, shout(child))
	}
	if len(in.Labels) > 0 {
		out.Labels = map[string]string{}
	}
	for key, label := range in.Labels {
		out.Labels[key] = strings.ToUpper(label)
	}
	return out
}

func serve() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s := server.New(
		server.WithServiceName("harena.test.echo.Echo"),
		server.WithProtocol(trpc.ProtocolName),
		server.WithNetwork("tcp"),
		server.WithListener(listener),
	)
	desc := testpb.EchoServer_ServiceDesc
	desc.Streams, desc.StreamHandle = nil, nil
	trpcgo.Register(s, &desc, echo{}, trpcgo.Options{})
	go func() {
		if err := s.Serve(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}()
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	_, err = io.Copy(io.Discard, os.Stdin)
	closed := make(chan struct{}, 1)
	_ = s.Close(closed)
	<-closed
	return err
}

func makeNote(children int) *testpb.Note {
	note := &testpb.Note{
		Text:   "a note of some length, in lower case",
		Number: -7,
		Blob:   bytes.Repeat([]byte{0, 1, 255}, 100),
		Author: &testpb.Author{Name: "somebody", Mails: []string{"somebody@example.org"}},
		Labels: map[string]string{"one": "the label of one"},
		Texts:  []string{"a text that is longer than a string's own room"},
	}
	for i := range children {
		note.Children = append(note.Children, &testpb.Note{Text: "child " + strconv.Itoa(i), Number: int64(i)})
	}
	return note
}

// callAll returns how many of the calls were answered as they should.
func callAll(target string) int {
	right := 0
	check := func(ok bool, got ...any) {
		if ok {
			right++
		} else {
			fmt.Fprintln(os.Stderr, got...)
		}
	}
	proxy := testpb.NewEchoClientProxy(client.WithTarget(target))
	// The two frameworks mean different formats of snappy by the type that just says so.
	compressions := []int{codec.CompressTypeNoop, codec.CompressTypeGzip, codec.CompressTypeBlockSnappy}
	for _, serialization := range []int{codec.SerializationTypePB, codec.SerializationTypeJSON} {
		for _, compression := range compressions {
			for _, children := range []int{0, 1, 100, 5000, 3} {
				in := makeNote(children)
				out, err := proxy.Say(trpc.BackgroundContext(), in,
					client.WithSerializationType(serialization), client.WithCompressType(compression))
				check(err == nil && proto.Equal(out, shout(in)), serialization, compression, children, err)
			}
		}
	}
	_, err := proxy.Fail(trpc.BackgroundContext(), &testpb.Note{Number: 4321, Text: "as it was asked for"})
	check(errs.Code(err) == 4321 && errs.Msg(err) == "as it was asked for", err)
	return right
}
