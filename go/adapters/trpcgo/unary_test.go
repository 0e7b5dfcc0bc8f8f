package trpcgo_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	trpc "trpc.group/trpc-go/trpc-go"
	"trpc.group/trpc-go/trpc-go/client"
	"trpc.group/trpc-go/trpc-go/errs"
	"trpc.group/trpc-go/trpc-go/server"

	"github.com/harena-project/harena/go/adapters/trpcgo"
	"github.com/harena-project/harena/go/adapters/trpcgo/internal/testpb"
	"github.com/harena-project/harena/go/pb/echotest"
	"github.com/harena-project/harena/go/scope"
)

func say(t testing.TB, proxy testpb.EchoClientProxy, in *testpb.Note, options ...client.Option) {
	t.Helper()
	out, err := proxy.Say(testContext(t), in, options...)
	if err != nil {
		t.Fatal(err)
	}
	if want := echotest.Shouted(in); !proto.Equal(out, want) {
		t.Fatalf("got  %v\nwant %v", out, want)
	}
}

func TestUnaryReplyBuiltOnTheScope(t *testing.T) {
	f := start(t, &echo{}, trpcgo.Options{})
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
	f := start(t, &echo{}, trpcgo.Options{})
	say(t, f.client, &testpb.Note{})
	if m := f.settled(t, "Say"); m.ScopesRetained != 0 || m.Uncovered != 0 {
		t.Errorf("an empty request counts as %+v", m)
	}
}

func TestReplyThatIsTheRequest(t *testing.T) {
	f := start(t, &echo{say: func(_ context.Context, in *testpb.Note) (*testpb.Note, error) { return in, nil }}, trpcgo.Options{})
	in := echotest.New("same")
	out, err := f.client.Say(testContext(t), in)
	if err != nil || !proto.Equal(in, out) {
		t.Errorf("%v, %v", out, err)
	}
	f.settled(t, "Say")
}

func TestReplyThatManyCallsShare(t *testing.T) {
	shared := echotest.New("shared")
	f := start(t, &echo{say: func(context.Context, *testpb.Note) (*testpb.Note, error) { return shared, nil }}, trpcgo.Options{})
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 50 {
				out, err := f.client.Say(testContext(t), &testpb.Note{})
				if err != nil || !proto.Equal(out, shared) {
					t.Errorf("got %v, %v", out, err)
					return
				}
			}
		})
	}
	group.Wait()
	f.settled(t, "Say")
}

func TestNilReply(t *testing.T) {
	impl := &echo{say: func(context.Context, *testpb.Note) (*testpb.Note, error) { return nil, nil }}
	f := start(t, impl, trpcgo.Options{})
	plain, _ := serve(t, func(s server.Service) { testpb.RegisterEchoService(s, impl) })
	want, wantErr := testpb.NewEchoClientProxy(client.WithTarget(plain)).Say(testContext(t), echotest.New("n"))
	got, err := f.client.Say(testContext(t), echotest.New("n"))
	if fmt.Sprint(err) != fmt.Sprint(wantErr) || !proto.Equal(got, want) {
		t.Errorf("got %v, %v; plain trpc-go gives %v, %v", got, err, want, wantErr)
	}
	f.settled(t, "Say")
}

func TestErrors(t *testing.T) {
	f := start(t, &echo{}, trpcgo.Options{})
	_, err := f.client.Fail(testContext(t), &testpb.Note{Number: 10404, Text: "gone"})
	wantCode(t, err, 10404, "gone")
	f.settled(t, "Fail")
}

// lazyError reads the request when it is asked for its text.
type lazyError struct{ request *testpb.Note }

func (e lazyError) Error() string { return "bad note " + e.request.Author.Name }

func TestErrorThatHoldsTheRequest(t *testing.T) {
	f := start(t, &echo{say: func(_ context.Context, in *testpb.Note) (*testpb.Note, error) {
		if in.Text == "wrapped" {
			return nil, errs.Wrap(lazyError{in}, 10001, "handler")
		}
		return nil, fmt.Errorf("handler: %w", lazyError{in})
	}}, trpcgo.Options{})
	_, err := f.client.Say(testContext(t), echotest.New("mine"))
	wantCode(t, err, errs.RetUnknown, "handler: bad note author mine")
	_, err = f.client.Say(testContext(t), echotest.New("wrapped"))
	wantCode(t, err, 10001, "handler")
	if m := f.settled(t, "Say"); m.ScopesRetained != 2 {
		t.Errorf("the memory that the errors point to was recycled: %+v", m)
	}
}

func TestRetain(t *testing.T) {
	var kept []*testpb.Note
	f := start(t, &echo{say: func(ctx context.Context, in *testpb.Note) (*testpb.Note, error) {
		trpcgo.Retain(ctx)
		kept = append(kept, in)
		return echotest.Shout(scope.From(ctx).Arena(), in), nil
	}}, trpcgo.Options{})
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

func TestRetainWithoutScope(t *testing.T) { trpcgo.Retain(context.Background()) }

// A goroutine that trpc.Go begins works on when the reply is gone.
func TestRetainForAGoroutine(t *testing.T) {
	proceed, result := make(chan struct{}), make(chan *testpb.Note, 1)
	f := start(t, &echo{say: func(ctx context.Context, in *testpb.Note) (*testpb.Note, error) {
		if in.Text == "async" {
			trpcgo.Retain(ctx)
			err := trpc.Go(ctx, time.Minute, func(context.Context) {
				<-proceed
				result <- proto.Clone(in).(*testpb.Note)
			})
			if err != nil {
				return nil, err
			}
		}
		return &testpb.Note{}, nil
	}}, trpcgo.Options{})
	for _, text := range []string{"async", "one", "two", "three"} {
		if _, err := f.client.Say(testContext(t), echotest.New(text)); err != nil {
			t.Fatal(err)
		}
	}
	close(proceed)
	if in := <-result; !proto.Equal(in, echotest.New("async")) {
		t.Errorf("the goroutine found %v", in)
	}
}

func TestOneWayCalls(t *testing.T) {
	var group sync.WaitGroup
	group.Add(10)
	f := start(t, &echo{say: func(ctx context.Context, in *testpb.Note) (*testpb.Note, error) {
		defer group.Done()
		return echotest.Shout(scope.From(ctx).Arena(), in), nil
	}}, trpcgo.Options{})
	for range 10 {
		if _, err := f.client.Say(testContext(t), echotest.New("one way"), client.WithSendOnly()); err != nil {
			t.Fatal(err)
		}
	}
	group.Wait()
	if m := f.settled(t, "Say"); m.ScopesStarted != 10 || m.ScopesRetained != 0 {
		t.Errorf("10 calls without a reply count as %+v", m)
	}
}

func TestClientThatGivesUp(t *testing.T) {
	entered, leave := make(chan struct{}, 1), make(chan struct{})
	f := start(t, &echo{say: func(ctx context.Context, in *testpb.Note) (*testpb.Note, error) {
		select {
		case entered <- struct{}{}:
		default:
		}
		<-leave
		return echotest.Shout(scope.From(ctx).Arena(), in), nil // the memory is still ours
	}}, trpcgo.Options{}, server.WithDisableRequestTimeout(true))
	for served := false; !served; { // on a busy machine a client may give up before it has sent
		ctx, cancel := context.WithTimeout(testContext(t), 50*time.Millisecond)
		if _, err := f.client.Say(ctx, echotest.New("given up")); err == nil {
			t.Error("the call did not fail")
		}
		cancel()
		select {
		case <-entered:
			served = true
		case <-time.After(50 * time.Millisecond):
		}
	}
	close(leave)
	f.settled(t, "Say")
}

// A deadline ends the context and nothing else: trpc-go waits for the handler, and so does the memory.
func TestDeadline(t *testing.T) {
	read := make(chan string, 1)
	f := start(t, &echo{say: func(ctx context.Context, in *testpb.Note) (*testpb.Note, error) {
		<-ctx.Done()
		time.Sleep(20 * time.Millisecond)
		read <- in.Author.Name
		return nil, ctx.Err()
	}}, trpcgo.Options{}, server.WithTimeout(50*time.Millisecond))
	_, err := f.client.Say(testContext(t), echotest.New("late"))
	wantCode(t, err, errs.RetUnknown, context.DeadlineExceeded.Error())
	if got := <-read; got != "author late" {
		t.Errorf("after the deadline the request says %q", got)
	}
	f.settled(t, "Say")
	// The caller's deadline: trpc-go sends no reply then.
	ctx, cancel := context.WithTimeout(trpc.BackgroundContext(), 30*time.Millisecond)
	defer cancel()
	_, err = f.client.Say(ctx, echotest.New("later"))
	if err == nil {
		t.Error("the call did not fail")
	}
	f.settled(t, "Say")
}

func TestStopWhileServing(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	f := start(t, &echo{say: func(ctx context.Context, in *testpb.Note) (*testpb.Note, error) {
		close(entered)
		<-leave
		return echotest.Shout(scope.From(ctx).Arena(), in), nil
	}}, trpcgo.Options{}, server.WithMaxCloseWaitTime(10*time.Second))
	result := make(chan error, 1)
	go func() {
		in := echotest.New("last")
		out, err := f.client.Say(testContext(t), in)
		if err == nil && !proto.Equal(out, echotest.Shouted(in)) {
			err = errWrongAnswer
		}
		result <- err
	}()
	<-entered
	stopped := make(chan struct{})
	go func() { f.stop(); close(stopped) }()
	time.Sleep(20 * time.Millisecond)
	close(leave)
	if err := <-result; err != nil {
		t.Error(err)
	}
	<-stopped
	if m := f.method(t, "Say"); m.ScopesAlive() != 0 {
		t.Errorf("scopes are alive after Close: %+v", m)
	}
}

func TestMessageOfManyPackets(t *testing.T) {
	f := start(t, &echo{}, trpcgo.Options{})
	in := echotest.New("big")
	for i := range 5000 {
		in.Children = append(in.Children, echotest.New(fmt.Sprint("child ", i)))
	}
	for range 3 {
		say(t, f.client, in)
	}
	f.settled(t, "Say")
}

// A reply that is larger than a frame may be is trpc-go's error; the scope ends all the same.
func TestReplyThatTRPCDoesNotSend(t *testing.T) {
	f := start(t, &echo{say: func(ctx context.Context, _ *testpb.Note) (*testpb.Note, error) {
		return &testpb.Note{Blob: make([]byte, trpc.DefaultMaxFrameSize)}, nil
	}}, trpcgo.Options{})
	_, err := f.client.Say(testContext(t), echotest.New("n"))
	wantCode(t, err, errs.RetServerEncodeFail)
	f.settled(t, "Say")
}

func TestReplyThatCannotBeEncoded(t *testing.T) {
	f := start(t, &echo{say: func(context.Context, *testpb.Note) (*testpb.Note, error) {
		return &testpb.Note{Text: "\xff"}, nil
	}}, trpcgo.Options{})
	_, err := f.client.Say(testContext(t), echotest.New("n"))
	wantCode(t, err, errs.RetServerEncodeFail, "UTF-8")
	f.settled(t, "Say")
}
