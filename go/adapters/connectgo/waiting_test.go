package connectgo_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"github.com/harena-project/harena/go/adapters/connectgo"
	"github.com/harena-project/harena/go/adapters/connectgo/internal/testpb"
	"github.com/harena-project/harena/go/arena"
	"github.com/harena-project/harena/go/pb/echotest"
	"github.com/harena-project/harena/go/scope"
)

// withoutCollections makes Go collect only when it is told to, until the test ends.
func withoutCollections(t *testing.T) {
	t.Helper()
	percent := debug.SetGCPercent(-1)
	t.Cleanup(func() { debug.SetGCPercent(percent) })
}

// limitProcess leaves the process room for so many bytes more, until the test ends.
func limitProcess(t *testing.T, bytes int64) {
	t.Helper()
	budget := scope.ProcessBudget()
	budget.SetBytesMax(budget.BytesUsed() + bytes)
	t.Cleanup(func() { budget.SetBytesMax(0) })
}

// turnAway is an interceptor that turns notes with the text "away..." away. It keeps them when it is
// told to.
func turnAway(keep func(any)) connect.HandlerOption {
	return outer(func(ctx context.Context, request connect.AnyRequest, next connect.UnaryFunc) (connect.AnyResponse, error) {
		if strings.HasPrefix(request.Any().(*testpb.Note).Text, "away") {
			keep(request.Any())
			return nil, connect.NewError(connect.CodePermissionDenied, errors.New("no"))
		}
		return next(ctx, request)
	})
}

// Requests that are decoded and then turned away, by connect or an interceptor, leave room for others
// though nothing else makes Go collect.
func TestSafetyCallsTurnedAwayLeaveRoom(t *testing.T) {
	const roomBytes = 4 << 20
	f := start(t, &echo{say: func(ctx context.Context, in *testpb.Note) (*testpb.Note, error) {
		if in.Text == "large reply" {
			arena.MakeSlice[byte](scope.From(ctx).Arena(), roomBytes/2, roomBytes/2)
		}
		return echotest.Shout(scope.From(ctx).Arena(), in), nil
	}}, connectgo.Options{}, turnAway(func(any) {}))
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	t.Cleanup(transport.CloseIdleConnections)
	raw := &http.Client{Transport: transport}
	client := f.client(t)

	away := &testpb.Note{Text: "away" + strings.Repeat("y", roomBytes/8)}
	wire, err := proto.Marshal(away)
	if err != nil {
		t.Fatal(err)
	}
	framed := frame(len(wire), wire)
	for name, turnedAway := range map[string]func(){
		"two messages": func() {
			if _, status := post(t, raw, f.server.URL, "application/grpc", append(bytes.Clone(framed), framed...)); status != "12" {
				t.Errorf("gRPC status %q, want UNIMPLEMENTED", status)
			}
		},
		"a message and a part of one": func() {
			if _, status := post(t, raw, f.server.URL, "application/grpc", append(bytes.Clone(framed), framed[:100]...)); status == "0" {
				t.Error("half a message is served")
			}
		},
		"an interceptor": func() {
			_, err := client.Say(testContext(t), connect.NewRequest(away))
			wantCode(t, err, connect.CodePermissionDenied)
		},
	} {
		for _, honest := range []*testpb.Note{{Text: "large reply"}, {Text: strings.Repeat("large request ", roomBytes/56)}} {
			t.Run(name+", "+honest.Text[:11], func(t *testing.T) {
				f.settled(t, "Say")
				withoutCollections(t)
				limitProcess(t, roomBytes)
				budget := scope.ProcessBudget()
				for budget.BytesMax()-budget.BytesUsed() > roomBytes/3 {
					turnedAway()
				}
				connectgo.HoldCollections(0)
				for range 10 {
					say(t, client, honest)
				}
			})
		}
	}
	f.settled(t, "Say")
	if n := connectgo.TableSizes(); n != 0 {
		t.Errorf("%d entries are left in the tables", n)
	}
}

// A flood of calls for which there is no room does not make Go collect all the time.
func TestRefusalsCollectSeldom(t *testing.T) {
	const roomBytes = 4 << 20
	var kept []any
	f := start(t, &echo{}, connectgo.Options{}, turnAway(func(request any) { kept = append(kept, request) }))
	client := f.client(t)
	withoutCollections(t)
	limitProcess(t, roomBytes)
	_, err := client.Say(testContext(t), connect.NewRequest(&testpb.Note{Text: "away" + strings.Repeat("y", roomBytes/2)}))
	wantCode(t, err, connect.CodePermissionDenied)

	refused := func() (collections uint32) {
		t.Helper()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 20 {
			_, err := client.Say(testContext(t), connect.NewRequest(&testpb.Note{Text: strings.Repeat("x", roomBytes)}))
			wantCode(t, err, connect.CodeResourceExhausted, "ProcessBytesMax is")
		}
		runtime.ReadMemStats(&after)
		return after.NumForcedGC - before.NumForcedGC
	}
	connectgo.HoldCollections(time.Hour)
	if n := refused(); n != 0 {
		t.Errorf("%d collections while none may be", n)
	}
	connectgo.HoldCollections(0)
	if n := refused(); n == 0 {
		t.Error("no collection when there may be one")
	}
	if took, pause := connectgo.LastCollection(); took <= 0 || pause < 9*took {
		t.Errorf("a collection of %v is followed by a pause of %v", took, pause)
	}
	if n := connectgo.TableSizes(); n != 1 {
		t.Errorf("%d entries in the tables, want that of the request which is kept", n)
	}
	runtime.KeepAlive(kept)
}
