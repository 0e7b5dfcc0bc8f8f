package grpcgo_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/protobuf/proto"

	"github.com/harena-project/harena/go/adapters/grpcgo"
	"github.com/harena-project/harena/go/adapters/grpcgo/internal/testpb"
	"github.com/harena-project/harena/go/pb/echotest"
	"github.com/harena-project/harena/go/scope"
)

func say(t testing.TB, client testpb.EchoClient, in *testpb.Note, options ...grpc.CallOption) {
	t.Helper()
	out, err := client.Say(testContext(t), in, options...)
	if err != nil {
		t.Fatal(err)
	}
	if want := echotest.Shouted(in); !proto.Equal(out, want) {
		t.Fatalf("got  %v\nwant %v", out, want)
	}
}

func TestUnaryReplyBuiltOnTheScope(t *testing.T) {
	f := start(t, &echo{}, grpcgo.Options{})
	for i := range 20 {
		say(t, f.client, echotest.New(fmt.Sprint("text ", i)))
	}
	m := f.settled(t, "Say")
	if m.ScopesStarted != 20 || m.ScopesRetained != 0 || m.ScopesRefused != 0 || m.Uncovered != 0 {
		t.Errorf("20 calls count as %+v", m)
	}
	if m.Arenas.ArenasKept == 0 || m.Arenas.Made >= 20 {
		t.Errorf("memory is not recycled: %+v", m.Arenas)
	}
	if m.BytesUsedMax == 0 || m.BytesUsedSum < 20*m.BytesUsedMax/2 {
		t.Errorf("bytes used: max %d, sum %d", m.BytesUsedMax, m.BytesUsedSum)
	}
}

func TestEmptyRequestAndReply(t *testing.T) {
	f := start(t, &echo{}, grpcgo.Options{})
	say(t, f.client, &testpb.Note{})
	f.settled(t, "Say")
}

func TestReplyThatIsTheRequest(t *testing.T) {
	f := start(t, &echo{say: func(_ context.Context, in *testpb.Note) (*testpb.Note, error) { return in, nil }}, grpcgo.Options{})
	in := echotest.New("same")
	out, err := f.client.Say(testContext(t), in)
	if err != nil || !proto.Equal(in, out) {
		t.Errorf("%v, %v", out, err)
	}
	f.settled(t, "Say")
}

func TestReplyThatManyCallsShare(t *testing.T) {
	shared := echotest.New("shared")
	f := start(t, &echo{say: func(context.Context, *testpb.Note) (*testpb.Note, error) { return shared, nil }}, grpcgo.Options{})
	done := make(chan error)
	for range 8 {
		go func() {
			for range 50 {
				out, err := f.client.Say(testContext(t), &testpb.Note{})
				if err == nil && !proto.Equal(out, shared) {
					err = fmt.Errorf("got %v", out)
				}
				if err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	for range 8 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	f.settled(t, "Say")
}

func TestNilReply(t *testing.T) {
	f := start(t, &echo{say: func(context.Context, *testpb.Note) (*testpb.Note, error) { return nil, nil }}, grpcgo.Options{})
	plain := grpc.NewServer()
	testpb.RegisterEchoServer(plain, &echo{say: func(context.Context, *testpb.Note) (*testpb.Note, error) { return nil, nil }})
	want, wantErr := testpb.NewEchoClient(serve(t, plain)).Say(testContext(t), &testpb.Note{})
	got, err := f.client.Say(testContext(t), &testpb.Note{})
	if fmt.Sprint(err) != fmt.Sprint(wantErr) || !proto.Equal(got, want) {
		t.Errorf("got %v, %v; plain gRPC gives %v, %v", got, err, want, wantErr)
	}
	f.settled(t, "Say")
}

func TestErrors(t *testing.T) {
	f := start(t, &echo{}, grpcgo.Options{})
	_, err := f.client.Fail(testContext(t), &testpb.Note{Number: int64(codes.NotFound), Text: "gone"})
	wantCode(t, err, codes.NotFound, "gone")
	f.settled(t, "Fail")
}

// lazyError reads the request when it is asked for its text.
type lazyError struct{ request *testpb.Note }

func (e lazyError) Error() string { return "bad note " + e.request.Author.Name }

func TestErrorThatHoldsTheRequest(t *testing.T) {
	f := start(t, &echo{say: func(_ context.Context, in *testpb.Note) (*testpb.Note, error) {
		return nil, fmt.Errorf("handler: %w", lazyError{in})
	}}, grpcgo.Options{})
	_, err := f.client.Say(testContext(t), echotest.New("mine"))
	wantCode(t, err, codes.Unknown, "handler: bad note author mine")
	if m := f.settled(t, "Say"); m.ScopesRetained != 1 {
		t.Errorf("the memory that the error points to was recycled: %+v", m)
	}
}

func TestRetain(t *testing.T) {
	var kept []*testpb.Note
	f := start(t, &echo{say: func(ctx context.Context, in *testpb.Note) (*testpb.Note, error) {
		grpcgo.Retain(ctx)
		kept = append(kept, in)
		return echotest.Shout(scope.From(ctx).Arena(), in), nil
	}}, grpcgo.Options{})
	for i := range 50 {
		say(t, f.client, echotest.New(fmt.Sprint("kept ", i)))
	}
	for i, in := range kept {
		if want := echotest.New(fmt.Sprint("kept ", i)); !proto.Equal(in, want) {
			t.Fatalf("kept %v, want %v", in, want)
		}
	}
	if m := f.settled(t, "Say"); m.ScopesRetained != 50 {
		t.Errorf("%d scopes retained, want 50", m.ScopesRetained)
	}
}

func TestRetainWithoutScope(t *testing.T) { grpcgo.Retain(context.Background()) }

func TestCancellation(t *testing.T) {
	entered := make(chan struct{})
	f := start(t, &echo{say: func(ctx context.Context, in *testpb.Note) (*testpb.Note, error) {
		close(entered)
		<-ctx.Done()
		return echotest.Shout(scope.From(ctx).Arena(), in), nil // the memory is still ours
	}}, grpcgo.Options{})
	ctx, cancel := context.WithCancel(testContext(t))
	go func() { <-entered; cancel() }()
	_, err := f.client.Say(ctx, echotest.New("cancelled"))
	wantCode(t, err, codes.Canceled)
	f.settled(t, "Say")
}

func TestDeadline(t *testing.T) {
	f := start(t, &echo{say: func(ctx context.Context, in *testpb.Note) (*testpb.Note, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}}, grpcgo.Options{})
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	_, err := f.client.Say(ctx, echotest.New("late"))
	wantCode(t, err, codes.DeadlineExceeded)
	f.settled(t, "Say")
}

func TestGracefulStop(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	f := start(t, &echo{say: func(ctx context.Context, in *testpb.Note) (*testpb.Note, error) {
		close(entered)
		<-leave
		return echotest.Shout(scope.From(ctx).Arena(), in), nil
	}}, grpcgo.Options{})
	result := make(chan error, 1)
	go func() {
		in := echotest.New("last")
		out, err := f.client.Say(testContext(t), in)
		if err == nil && !proto.Equal(out, echotest.Shouted(in)) {
			err = errors.New("wrong answer")
		}
		result <- err
	}()
	<-entered
	stopped := make(chan struct{})
	go func() { f.server.GracefulStop(); close(stopped) }()
	close(leave)
	if err := <-result; err != nil {
		t.Error(err)
	}
	<-stopped
	if m := f.method(t, "Say"); m.ScopesAlive() != 0 {
		t.Errorf("scopes are alive after GracefulStop: %+v", m)
	}
}

func TestCompression(t *testing.T) {
	f := start(t, &echo{}, grpcgo.Options{})
	say(t, f.client, echotest.New(strings.Repeat("long ", 5000)), grpc.UseCompressor(gzip.Name))
	if m := f.settled(t, "Say"); m.Uncovered != 0 {
		t.Errorf("compressed messages are not covered: %+v", m)
	}
}

func TestMessageOfManyFrames(t *testing.T) {
	f := start(t, &echo{}, grpcgo.Options{})
	in := echotest.New("big")
	for i := range 5000 {
		in.Children = append(in.Children, echotest.New(fmt.Sprint("child ", i)))
	}
	for range 3 {
		say(t, f.client, in)
	}
	f.settled(t, "Say")
}
