package connectgo_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"github.com/harena-project/harena/go/adapters/connectgo"
	"github.com/harena-project/harena/go/adapters/connectgo/internal/testpb"
	"github.com/harena-project/harena/go/adapters/connectgo/internal/testpb/testpbconnect"
	"github.com/harena-project/harena/go/arena"
	"github.com/harena-project/harena/go/pb/echotest"
	"github.com/harena-project/harena/go/scope"
)

func say(t testing.TB, client testpbconnect.EchoClient, in *testpb.Note) {
	t.Helper()
	out, err := client.Say(testContext(t), connect.NewRequest(in))
	if err != nil {
		t.Fatal(err)
	}
	if want := echotest.Shouted(in); !proto.Equal(out.Msg, want) {
		t.Fatalf("got  %v\nwant %v", out.Msg, want)
	}
}

func TestUnaryInEveryProtocol(t *testing.T) {
	for _, p := range protocols() {
		t.Run(p.name, func(t *testing.T) {
			f := start(t, &echo{}, connectgo.Options{RequestBytesMax: 2 << 20})
			client := p.client(t, f.server)
			for i := range 20 {
				say(t, client, echotest.New(fmt.Sprint("text ", i)))
			}
			say(t, client, echotest.New(strings.Repeat("long ", 20_000)))
			say(t, client, &testpb.Note{})
			_, err := client.Fail(testContext(t), connect.NewRequest(&testpb.Note{Number: int64(connect.CodeNotFound), Text: "gone"}))
			wantCode(t, err, connect.CodeNotFound, "gone")
			m := f.settled(t, "Say")
			want := uint64(0)
			if p.json() {
				want = 22
			}
			if m.ScopesStarted != 22 || m.ScopesRetained != want {
				t.Errorf("22 calls count as %+v, want %d retained", m, want)
			}
			f.settled(t, "Fail")
		})
	}
}

func TestReplyThatManyCallsShare(t *testing.T) {
	shared := echotest.New("shared")
	f := start(t, &echo{say: func(context.Context, *testpb.Note) (*testpb.Note, error) { return shared, nil }}, connectgo.Options{})
	client := f.client(t)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 25 {
				out, err := client.Say(testContext(t), connect.NewRequest(echotest.New("n")))
				if err != nil || !proto.Equal(out.Msg, shared) {
					t.Errorf("%v, %v", out, err)
					return
				}
			}
		})
	}
	group.Wait()
	f.settled(t, "Say")
}

func TestRetain(t *testing.T) {
	var kept []*testpb.Note
	f := start(t, &echo{say: func(ctx context.Context, in *testpb.Note) (*testpb.Note, error) {
		connectgo.Retain(ctx)
		kept = append(kept, in)
		return echotest.Shout(scope.From(ctx).Arena(), in), nil
	}}, connectgo.Options{})
	for i := range 50 {
		say(t, f.client(t), echotest.New(fmt.Sprint("kept ", i)))
	}
	f.settled(t, "Say")
	for i, in := range kept {
		if !proto.Equal(in, echotest.New(fmt.Sprint("kept ", i))) {
			t.Fatalf("kept %v", in)
		}
	}
}

// lazyError reads the request when it is asked for its text.
type lazyError struct{ request *testpb.Note }

func (e lazyError) Error() string { return "bad note " + e.request.Author.Name }

func TestErrorThatHoldsTheRequest(t *testing.T) {
	f := start(t, &echo{say: func(_ context.Context, in *testpb.Note) (*testpb.Note, error) {
		return nil, connect.NewError(connect.CodeInvalidArgument, lazyError{in})
	}}, connectgo.Options{})
	_, err := f.client(t).Say(testContext(t), connect.NewRequest(echotest.New("mine")))
	wantCode(t, err, connect.CodeInvalidArgument, "bad note author mine")
	if m := f.settled(t, "Say"); m.ScopesRetained != 1 {
		t.Errorf("the memory that the error points to was recycled: %+v", m)
	}
}

func TestPanicIsNotSwallowed(t *testing.T) {
	var panicked any
	f := start(t, &echo{say: func(context.Context, *testpb.Note) (*testpb.Note, error) { panic("handler's own") }},
		connectgo.Options{},
		connect.WithRecover(func(_ context.Context, _ connect.Spec, _ http.Header, p any) error {
			panicked = p
			return connect.NewError(connect.CodeInternal, errors.New("recovered"))
		}))
	_, err := f.client(t).Say(testContext(t), connect.NewRequest(echotest.New("p")))
	wantCode(t, err, connect.CodeInternal, "recovered")
	if panicked != "handler's own" {
		t.Errorf("recovered %v", panicked)
	}
	if m := f.settled(t, "Say"); m.ScopesRetained != 1 {
		t.Errorf("a panic counts as %+v", m)
	}
	// Without the option net/http cuts the call off.
	bare := start(t, &echo{say: func(context.Context, *testpb.Note) (*testpb.Note, error) { panic("handler's own") }}, connectgo.Options{})
	if _, err := bare.client(t).Say(testContext(t), connect.NewRequest(echotest.New("p"))); err == nil {
		t.Error("a panic is answered as if nothing had happened")
	}
	bare.settled(t, "Say")
}

func TestCancellationAndDeadline(t *testing.T) {
	f := start(t, &echo{say: func(ctx context.Context, in *testpb.Note) (*testpb.Note, error) {
		<-ctx.Done()
		out := echotest.Shout(scope.From(ctx).Arena(), in) // the memory is still ours
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return nil, ctx.Err()
		}
		return out, nil // the client is gone
	}}, connectgo.Options{})
	for _, p := range protocols() {
		ctx, cancel := context.WithTimeout(testContext(t), 50*time.Millisecond)
		_, err := p.client(t, f.server).Say(ctx, connect.NewRequest(echotest.New("late")))
		wantCode(t, err, connect.CodeDeadlineExceeded)
		cancel()
		ctx, cancel = context.WithCancel(testContext(t))
		time.AfterFunc(50*time.Millisecond, cancel)
		_, err = p.client(t, f.server).Say(ctx, connect.NewRequest(echotest.New("cancelled")))
		wantCode(t, err, connect.CodeCanceled)
	}
	f.settled(t, "Say")
}

func outer(f func(context.Context, connect.AnyRequest, connect.UnaryFunc) (connect.AnyResponse, error)) connect.HandlerOption {
	return connect.WithInterceptors(connect.UnaryInterceptorFunc(func(next connect.UnaryFunc) connect.UnaryFunc {
		return func(ctx context.Context, request connect.AnyRequest) (connect.AnyResponse, error) {
			return f(ctx, request, next)
		}
	}))
}

func TestInterceptorsSeeTheMessages(t *testing.T) {
	var seen []string
	look := outer(func(ctx context.Context, request connect.AnyRequest, next connect.UnaryFunc) (connect.AnyResponse, error) {
		seen = append(seen, request.Any().(*testpb.Note).Author.Name)
		response, err := next(ctx, request)
		seen = append(seen, response.Any().(*testpb.Note).Text+" "+request.Any().(*testpb.Note).Author.Name)
		return response, err
	})
	f := start(t, &echo{}, connectgo.Options{}, look)
	say(t, f.client(t), echotest.New("n"))
	inner, err := connectgo.New(connectgo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	say(t, overHTTP2.client(t, serve(t, &echo{}, inner.HandlerOption(), look)), echotest.New("n"))
	want := "author n|N author n"
	if got := strings.Join(seen, "|"); got != want+"|"+want {
		t.Errorf("interceptors saw %q", got)
	}
	if m := f.settled(t, "Say"); m.ScopesRetained != 0 {
		t.Errorf("an interceptor costs the recycling of memory: %+v", m)
	}
}

// Calls that an outer interceptor turns away never reach ours; replies that it drops are never
// encoded.
func TestInterceptorsThatTurnCallsAway(t *testing.T) {
	f := start(t, &echo{}, connectgo.Options{},
		outer(func(ctx context.Context, request connect.AnyRequest, next connect.UnaryFunc) (connect.AnyResponse, error) {
			switch request.Any().(*testpb.Note).Text {
			case "before":
				return nil, connect.NewError(connect.CodePermissionDenied, errors.New("no"))
			case "after":
				next(ctx, request)
				return nil, connect.NewError(connect.CodePermissionDenied, errors.New("no"))
			case "instead":
				next(ctx, request)
				return connect.NewResponse(&testpb.Note{Text: "INSTEAD"}), nil
			}
			return next(ctx, request)
		}))
	client := f.client(t)
	for range 10 {
		for _, text := range []string{"before", "after"} {
			_, err := client.Say(testContext(t), connect.NewRequest(echotest.New(text)))
			wantCode(t, err, connect.CodePermissionDenied)
		}
		out, err := client.Say(testContext(t), connect.NewRequest(echotest.New("instead")))
		if err != nil || out.Msg.Text != "INSTEAD" {
			t.Errorf("%v, %v", out, err)
		}
		say(t, client, echotest.New("through"))
	}
	if m := f.settled(t, "Say"); m.ScopesStarted != 40 || m.ScopesRetained != 30 {
		t.Errorf("40 calls, 10 of them answered by the handler, count as %+v", m)
	}
	if n := connectgo.TableSizes(); n != 0 {
		t.Errorf("%d entries are left in the tables", n)
	}
}

// An interceptor with a time limit of its own leaves the handler running on the request.
func TestInterceptorThatDoesNotWait(t *testing.T) {
	for _, place := range []string{"outside", "inside"} {
		t.Run(place, func(t *testing.T) {
			leave, left := make(chan struct{}), make(chan error, 1)
			impl := &echo{say: func(ctx context.Context, in *testpb.Note) (*testpb.Note, error) {
				if in.Text != "slow" {
					return echotest.Shout(scope.From(ctx).Arena(), in), nil
				}
				<-leave
				var err error
				if !proto.Equal(in, echotest.New("slow")) {
					err = fmt.Errorf("the request turned into %v", in)
				}
				out := echotest.Shout(scope.From(ctx).Arena(), in)
				left <- err
				return out, nil
			}}
			impatient := outer(func(ctx context.Context, request connect.AnyRequest, next connect.UnaryFunc) (connect.AnyResponse, error) {
				if request.Any().(*testpb.Note).Text != "slow" {
					return next(ctx, request)
				}
				go next(ctx, request)
				time.Sleep(20 * time.Millisecond)
				return nil, connect.NewError(connect.CodeDeadlineExceeded, errors.New("too slow"))
			})
			service, err := connectgo.New(connectgo.Options{})
			if err != nil {
				t.Fatal(err)
			}
			options := []connect.HandlerOption{impatient, service.HandlerOption()}
			if place == "inside" {
				options[0], options[1] = options[1], options[0]
			}
			f := &fixture{Service: service, server: serve(t, impl, options...)}
			client := f.client(t)
			_, err = client.Say(testContext(t), connect.NewRequest(echotest.New("slow")))
			wantCode(t, err, connect.CodeDeadlineExceeded)
			for range 30 {
				say(t, client, echotest.New("other"))
			}
			close(leave)
			if err := <-left; err != nil {
				t.Error(err)
			}
			f.settled(t, "Say")
		})
	}
}

func TestLimits(t *testing.T) {
	for _, p := range protocols() {
		if p.json() {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			called := 0
			f := start(t, &echo{say: func(ctx context.Context, in *testpb.Note) (*testpb.Note, error) {
				called++
				a := scope.From(ctx).Arena()
				if in.Text == "greedy" {
					arena.MakeSlice[byte](a, 200_000, 200_000)
				}
				return echotest.Shout(a, in), nil
			}}, connectgo.Options{RequestBytesMax: 100_000, DepthMax: 6})
			client := p.client(t, f.server)
			refused := func(in *testpb.Note, parts ...string) {
				t.Helper()
				_, err := client.Say(testContext(t), connect.NewRequest(in))
				wantCode(t, err, connect.CodeResourceExhausted, append(parts, testpbconnect.EchoSayProcedure)...)
			}
			refused(&testpb.Note{Text: strings.Repeat("x", 200_000)}, "RequestBytesMax is 100000 bytes", "200004 on the wire")
			small := &testpb.Note{}
			for range 5_000 {
				small.Children = append(small.Children, &testpb.Note{})
			}
			refused(small, "RequestBytesMax is 100000 bytes", "10000 on the wire")
			deep := &testpb.Note{Text: "leaf"}
			for range 10 {
				deep = &testpb.Note{Children: []*testpb.Note{deep}}
			}
			refused(deep, "DepthMax is 6 levels")
			if called != 0 {
				t.Error("the handler was called with a refused request")
			}
			refused(echotest.New("greedy"), "RequestBytesMax is 100000 bytes", "200000 more were wanted")
			say(t, client, echotest.New("fits"))
			if m := f.settled(t, "Say"); m.ScopesRefused != 4 || m.ScopesStarted != 5 || m.ScopesRetained != 4 {
				t.Errorf("four refusals and a success count as %+v", m)
			}
		})
	}
}

func TestModeIsSwitchedWhileRunning(t *testing.T) {
	f := start(t, &echo{}, connectgo.Options{})
	stop := make(chan struct{})
	var group sync.WaitGroup
	for range 4 {
		client := f.client(t)
		group.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					say(t, client, echotest.New("switch"))
				}
			}
		})
	}
	for i := range 100 {
		if err := f.SetMode("", []scope.Mode{scope.Heap, scope.Codec}[i%2]); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
	close(stop)
	group.Wait()
	f.settled(t, "Say")
}

func TestWrongSettingsAreRefused(t *testing.T) {
	for want, options := range map[string]connectgo.Options{
		"known are /harena.test.echo.Echo/Say, ": {Methods: map[string]connectgo.MethodOptions{"/harena.test.echo.Echo/Sag": {}}},
		"its service is not known":               {Methods: map[string]connectgo.MethodOptions{"/Ecco/Say": {}}},
		"mode heap cannot hold a limit":          {Mode: scope.Heap, RequestBytesMax: 1},
		"StreamScope(7) is not known":            {StreamScope: 7},
		"/harena.test.echo.Echo/Say: harena/scope: RequestBytesMax is -2": {
			Methods: map[string]connectgo.MethodOptions{testpbconnect.EchoSayProcedure: {RequestBytesMax: -2}}},
	} {
		if _, err := connectgo.New(options); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("New(%+v): %v, want %q", options, err, want)
		}
	}
	f := start(t, &echo{}, connectgo.Options{Methods: map[string]connectgo.MethodOptions{testpbconnect.EchoSayProcedure: {Mode: scope.Heap}}})
	if err := f.SetRequestBytesMax("/harena.test.echo.Echo/Sag", 1); err == nil || !strings.Contains(err.Error(), "known are") {
		t.Errorf("SetRequestBytesMax of an unknown method: %v", err)
	}
	if err := f.SetRequestBytesMax(testpbconnect.EchoFailProcedure, 1); err != nil {
		t.Error(err)
	}
	if err := f.SetDepthMax(testpbconnect.EchoFailProcedure, 9); err != nil {
		t.Error(err)
	}
	if f.method(t, "Say").Options.Mode != scope.Heap || f.method(t, "Fail").Options != (scope.Options{RequestBytesMax: 1, DepthMax: 9}) {
		t.Errorf("methods: %+v", f.Methods())
	}
	defer func() {
		if text, _ := recover().(string); !strings.HasPrefix(text, "harena/connectgo: ") {
			t.Errorf("WithScopes panics with %q", text)
		}
	}()
	connectgo.WithScopes(connectgo.Options{RequestBytesMax: -1})
}

// A codec that is given later replaces ours; then everything is as without Harena.
func TestOtherCodecWorksAsWithoutHarena(t *testing.T) {
	service, err := connectgo.New(connectgo.Options{StreamScope: connectgo.PerMessage})
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{Service: service, server: serve(t, &echo{}, service.HandlerOption(), connect.WithCodec(foreignCodec{}))}
	for range 10 {
		say(t, f.client(t), echotest.New("foreign"))
	}
	if m := f.settled(t, "Say"); m.ScopesRetained != 10 {
		t.Errorf("10 calls with a foreign codec count as %+v", m)
	}
}

type foreignCodec struct{}

func (foreignCodec) Name() string                  { return "proto" }
func (foreignCodec) Marshal(v any) ([]byte, error) { return proto.Marshal(v.(proto.Message)) }
func (foreignCodec) Unmarshal(data []byte, v any) error {
	return proto.Unmarshal(data, v.(proto.Message))
}

func TestNothingIsLeftBehind(t *testing.T) {
	f := start(t, &echo{}, connectgo.Options{})
	for _, p := range protocols() {
		say(t, p.client(t, f.server), echotest.New("n"))
	}
	f.settled(t, "Say")
	runtime.GC()
	if n := connectgo.TableSizes(); n != 0 {
		t.Errorf("%d entries are left in the tables", n)
	}
}

// A method has the service's limits, but for those that it names, and mode heap can be had with them.
func TestSettingsOfSingleMethods(t *testing.T) {
	f := start(t, &echo{}, connectgo.Options{
		RequestBytesMax: 1 << 20,
		Methods:         map[string]connectgo.MethodOptions{testpbconnect.EchoSayProcedure: {DepthMax: 7}},
	})
	if err := f.SetMode("", scope.Heap); err != nil {
		t.Error(err)
	}
	for name, depth := range map[string]int{"Say": 7, "Fail": 0} {
		want := scope.Options{Mode: scope.Heap, RequestBytesMax: 1 << 20, DepthMax: depth}
		if got := f.method(t, name).Options; got != want {
			t.Errorf("%s has %+v", name, got)
		}
	}
}
