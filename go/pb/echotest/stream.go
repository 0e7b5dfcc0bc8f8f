package echotest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/harena-project/harena/go/arena"
	"github.com/harena-project/harena/go/scope"
)

// Receiver is a client's stream of replies.
type Receiver interface{ Recv() (*Note, error) }

// Collecting is a client's stream of requests with one reply.
type Collecting interface {
	Send(*Note) error
	CloseAndRecv() (*Note, error)
}

// Chatting is a client's stream of both.
type Chatting interface {
	Receiver
	Send(*Note) error
	CloseSend() error
}

// Serving is a handler's stream of both.
type Serving interface {
	Receiver
	Context() context.Context
	Send(*Note) error
}

// Repeat reads the replies to a note, which are as many as its number.
func Repeat(t testing.TB, stream Receiver, in *Note) {
	t.Helper()
	for range in.Number {
		out, err := stream.Recv()
		if err != nil || !proto.Equal(out, Shouted(in)) {
			t.Fatalf("%v, %v", out, err)
		}
	}
	if _, err := stream.Recv(); err != io.EOF {
		t.Fatalf("after the last reply: %v", err)
	}
}

// Collect sends five notes, which come back as one.
func Collect(t testing.TB, stream Collecting, text string) {
	t.Helper()
	want := &Note{}
	for i := range 5 {
		// The echo shares the request's author with its reply, which PerMessage does not allow here.
		in := New(fmt.Sprint(text, i))
		in.Author = nil
		if err := stream.Send(in); err != nil {
			t.Fatal(err)
		}
		want.Children = append(want.Children, Shouted(in))
	}
	out, err := stream.CloseAndRecv()
	if err != nil || !proto.Equal(out, want) {
		t.Fatalf("%v, %v", out, err)
	}
}

// Chat sends twenty notes, each of which is answered at once.
func Chat(t testing.TB, stream Chatting, text string) {
	t.Helper()
	for i := range 20 {
		in := New(fmt.Sprint(text, i))
		if err := stream.Send(in); err != nil {
			t.Fatal(err)
		}
		out, err := stream.Recv()
		if err != nil || !proto.Equal(out, Shouted(in)) {
			t.Fatalf("%v, %v", out, err)
		}
	}
	if err := stream.CloseSend(); err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); err != io.EOF {
		t.Fatalf("after CloseSend: %v", err)
	}
}

// AnswerAtOnce is a handler that receives and sends a hundred notes, from two goroutines.
func AnswerAtOnce(stream Serving) error {
	sent := make(chan error, 1)
	go func() {
		for i := range 100 {
			a := scope.From(stream.Context()).Arena()
			out := arena.NewOf[Note](a)
			out.Text = a.String(fmt.Sprint("out ", i))
			out.Children = arena.Append(a, out.Children, arena.NewOf[Note](a))
			if err := stream.Send(out); err != nil {
				sent <- err
				return
			}
		}
		sent <- nil
	}()
	for i := 0; ; i++ {
		in, err := stream.Recv()
		if err == io.EOF {
			return <-sent
		}
		if err != nil || !proto.Equal(in, New(fmt.Sprint("in ", i))) {
			return fmt.Errorf("received %v, %v", in, err)
		}
	}
}

// AskAtOnce is its client.
func AskAtOnce(t testing.TB, stream Chatting) {
	t.Helper()
	sent := make(chan error, 1)
	go func() {
		var err error
		for i := range 100 {
			err = errors.Join(err, stream.Send(New(fmt.Sprint("in ", i))))
		}
		sent <- errors.Join(err, stream.CloseSend())
	}()
	for i := range 100 {
		out, err := stream.Recv()
		if err != nil || out.Text != fmt.Sprint("out ", i) || len(out.Children) != 1 {
			t.Fatalf("%v, %v", out, err)
		}
	}
	if _, err := stream.Recv(); err != io.EOF {
		t.Errorf("at the end: %v", err)
	}
	if err := <-sent; err != nil {
		t.Error(err)
	}
}
