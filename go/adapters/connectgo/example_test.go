package connectgo_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"connectrpc.com/connect"

	"github.com/harena-project/harena/go/adapters/connectgo"
	"github.com/harena-project/harena/go/adapters/connectgo/internal/testpb"
	"github.com/harena-project/harena/go/adapters/connectgo/internal/testpb/testpbconnect"
	"github.com/harena-project/harena/go/arena"
	"github.com/harena-project/harena/go/pb/capture"
	"github.com/harena-project/harena/go/scope"
)

// shouter answers with the text in upper case. It builds its reply on the scope; handlers that know
// nothing of scopes work as well.
type shouter struct {
	testpbconnect.UnimplementedEchoHandler
}

func (shouter) Say(ctx context.Context, in *connect.Request[testpb.Note]) (*connect.Response[testpb.Note], error) {
	a := scope.From(ctx).Arena()
	out := arena.NewOf[testpb.Note](a)
	out.Text = strings.ToUpper(in.Msg.Text)
	out.Author = in.Msg.Author // part of the request, which lives as long
	return connect.NewResponse(out), nil
}

// One option puts a service on scopes.
func ExampleWithScopes() {
	impl := shouter{}
	path, handler := testpbconnect.NewEchoHandler(impl, connectgo.WithScopes(connectgo.Options{RequestBytesMax: 64 << 20}))

	mux := http.NewServeMux()
	mux.Handle(path, handler)
	server := httptest.NewServer(mux)
	defer server.Close()

	client := testpbconnect.NewEchoClient(server.Client(), server.URL)
	out, err := client.Say(context.Background(), connect.NewRequest(&testpb.Note{Text: "hello"}))
	fmt.Println(out.Msg.Text, err)
	// Output: HELLO <nil>
}

// A Service changes settings while the server runs, and counts.
func ExampleNew() {
	service, err := connectgo.New(connectgo.Options{RequestBytesMax: 100_000})
	if err != nil {
		panic(err)
	}
	mux := http.NewServeMux()
	mux.Handle(testpbconnect.NewEchoHandler(shouter{}, service.HandlerOption()))
	server := httptest.NewServer(mux)
	defer server.Close()

	client := testpbconnect.NewEchoClient(server.Client(), server.URL)
	_, err = client.Say(context.Background(), connect.NewRequest(&testpb.Note{Blob: make([]byte, 150_000)}))
	fmt.Println(err)
	fmt.Println(service.SetRequestBytesMax(testpbconnect.EchoSayProcedure, 1_000_000))
	_, err = client.Say(context.Background(), connect.NewRequest(&testpb.Note{Blob: make([]byte, 150_000)}))
	fmt.Println(err)
	m := service.Methods()[0]
	fmt.Println(m.Name, m.Options.Mode, m.ScopesStarted, "requests,", m.ScopesRefused, "refused")
	// Output:
	// resource_exhausted: harena/connectgo: /harena.test.echo.Echo/Say: RequestBytesMax is 100000 bytes, and the request alone has 150004 on the wire
	// <nil>
	// <nil>
	// /harena.test.echo.Echo/Say codec 2 requests, 1 refused
}

// Sampled calls go to files, for `harena replay`.
func ExampleCaptureInterceptor() {
	directory, err := os.MkdirTemp("", "capture")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(directory)
	quiet := slog.New(slog.DiscardHandler)

	c, err := capture.New(capture.Options{Directory: directory, OneIn: 1, Logger: quiet})
	if err != nil {
		panic(err)
	}
	path, handler := testpbconnect.NewEchoHandler(plainEcho{},
		connect.WithInterceptors(connectgo.CaptureInterceptor(c, testpbconnect.EchoSayProcedure)))

	mux := http.NewServeMux()
	mux.Handle(path, handler)
	server := httptest.NewServer(mux)
	client := testpbconnect.NewEchoClient(server.Client(), server.URL)
	_, err = client.Say(context.Background(), connect.NewRequest(&testpb.Note{Text: "hello"}))
	fmt.Println(err)
	server.Close()
	fmt.Println(c.Close()) // after the server has stopped
	for call, err := range capture.Calls(directory) {
		fmt.Printf("%s %q %q %v\n", call.Method, call.Request, call.Response, err)
	}
	// Output:
	// <nil>
	// <nil>
	// /harena.test.echo.Echo/Say "\n\x05hello" "\n\x05HELLO" <nil>
}
