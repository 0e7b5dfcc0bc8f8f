package connectgo_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"math/rand"
	"net/http"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/harena-project/harena/go/adapters/connectgo"
	"github.com/harena-project/harena/go/adapters/connectgo/internal/testpb/testpbconnect"
	"github.com/harena-project/harena/go/pb/echotest"
)

// frame is an enveloped message that claims to have some length.
func frame(length int, body []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(length)), body...)
}

// post sends a body as it is, and returns the HTTP status and what tells the outcome in the protocol.
func post(t *testing.T, client *http.Client, url, contentType string, body []byte) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(testContext(t), "POST", url+testpbconnect.EchoSayProcedure, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", contentType)
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, response.Header.Get("Grpc-Status") + response.Trailer.Get("Grpc-Status")
}

// Garbage, and messages and frames cut off anywhere, are answered as without Harena.
func TestMalformedRequests(t *testing.T) {
	f := start(t, &echo{}, connectgo.Options{RequestBytesMax: 1 << 20})
	plain := serve(t, plainEcho{})
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	t.Cleanup(transport.CloseIdleConnections)
	client := &http.Client{Transport: transport}

	whole, err := proto.Marshal(echotest.New("whole"))
	if err != nil {
		t.Fatal(err)
	}
	framed := frame(len(whole), whole)
	random := rand.New(rand.NewSource(1))
	bodies := map[string][][]byte{}
	for _, contentType := range []string{"application/proto", "application/grpc", "application/grpc-web+proto", "application/json"} {
		source := whole
		if contentType != "application/proto" && contentType != "application/json" {
			source = framed
		}
		for cut := 0; cut <= len(source); cut += 1 + random.Intn(4) {
			bodies[contentType] = append(bodies[contentType], source[:cut])
		}
		for range 40 {
			garbage := bytes.Clone(source)
			for range 1 + random.Intn(4) {
				garbage[random.Intn(len(garbage))] = byte(random.Intn(256))
			}
			bodies[contentType] = append(bodies[contentType], garbage)
		}
		bodies[contentType] = append(bodies[contentType], append(bytes.Clone(source), source...))
	}
	good := 0
	for contentType, all := range bodies {
		for _, body := range all {
			wantCode, wantStatus := post(t, client, plain.URL, contentType, body)
			code, status := post(t, client, f.server.URL, contentType, body)
			if code != wantCode || status != wantStatus {
				t.Errorf("%s %x: HTTP %d, gRPC %q; without Harena %d, %q", contentType, body, code, status, wantCode, wantStatus)
			}
			if code == 200 && (status == "" || status == "0") {
				good++
			}
		}
	}
	if good == 0 {
		t.Error("no request was good")
	}
	say(t, f.client(t), echotest.New("good"))
	f.settled(t, "Say")
	if n := connectgo.TableSizes(); n != 0 {
		t.Errorf("%d entries are left in the tables", n)
	}
}
