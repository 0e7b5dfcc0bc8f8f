package live

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// What clients may throw at the listener: the inputs of testdata/live/hostile.json, which the C++ tests
// read as well, and clients that hold, cut off or flood connections. The page has to answer at once
// afterwards.

const (
	atOnce = 10 * time.Second // long before anybody's time is up, also on a busy machine
	half   = "GET /harena HTTP/1.1\r\nHost: loc"
)

type hostileInput struct {
	Name string `json:"name"`
	Send []struct {
		Text  string `json:"text"` // each character is a byte
		Times int    `json:"times"`
	} `json:"send"`
	Answers [][]int `json:"answers"`
	Says    string  `json:"says"`
}

func (i hostileInput) bytes() []byte {
	var all []byte
	for _, part := range i.Send {
		var once []byte
		for _, r := range part.Text {
			once = append(once, byte(r))
		}
		all = append(all, slices.Repeat(once, max(part.Times, 1))...)
	}
	return all
}

func hostileInputs(t *testing.T) []hostileInput {
	t.Helper()
	text, err := os.ReadFile("../../testdata/live/hostile.json")
	if err != nil {
		t.Fatal(err)
	}
	var inputs []hostileInput
	if err := json.Unmarshal(text, &inputs); err != nil || len(inputs) <= 60 {
		t.Fatalf("%d inputs, %v", len(inputs), err)
	}
	return inputs
}

// listenHostile returns the address of a listener that makes no noise.
func listenHostile(t *testing.T) (*Listener, string) {
	t.Helper()
	log.SetOutput(io.Discard)
	t.Cleanup(func() { log.SetOutput(os.Stderr) })
	listener, err := Listen("127.0.0.1:0", Options{Token: testToken})
	if err != nil {
		t.Fatal(err)
	}
	return listener, listener.Addr().String()
}

func dial(t *testing.T, address string) *net.TCPConn {
	t.Helper()
	connection, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	connection.SetDeadline(time.Now().Add(20 * time.Second))
	return connection.(*net.TCPConn)
}

// talk returns what comes back for the bytes, to the end of the connection.
func talk(t *testing.T, address string, bytes []byte) string {
	t.Helper()
	connection := dial(t, address)
	defer connection.Close()
	_, _ = connection.Write(bytes) // the answer may come before the end of the question
	_ = connection.CloseWrite()
	answer, _ := io.ReadAll(connection)
	return string(answer)
}

var statusLine = regexp.MustCompile(`HTTP/1\.[01] ([0-9]{3})`)

// codesIn are the codes of the answers, one after the other; 0 when there is none.
func codesIn(answers string) []int {
	var codes []int
	for _, line := range statusLine.FindAllStringSubmatch(answers, -1) {
		code, _ := strconv.Atoi(line[1])
		codes = append(codes, code)
	}
	if codes == nil {
		return []int{0}
	}
	return codes
}

func expectAnswersAtOnce(t *testing.T, address string) {
	t.Helper()
	begin := time.Now()
	answer := talk(t, address, []byte("GET /harena HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"))
	if !strings.HasPrefix(answer, "HTTP/1.1 200") || time.Since(begin) > atOnce {
		t.Fatalf("after %v: %.100q", time.Since(begin), answer)
	}
}

func TestHostileInputsAreAnsweredAsTheyShould(t *testing.T) {
	listener, address := listenHostile(t)
	defer listener.Close()
	for _, input := range hostileInputs(t) {
		t.Run(input.Name, func(t *testing.T) {
			begin := time.Now()
			answer := talk(t, address, input.bytes())
			if time.Since(begin) > atOnce {
				t.Errorf("it took %v", time.Since(begin))
			}
			codes := codesIn(answer)
			if len(codes) != len(input.Answers) || !strings.Contains(answer, input.Says) {
				t.Fatalf("%d answers, want %d: %.2000q", len(codes), len(input.Answers), answer)
			}
			for i, code := range codes {
				if !slices.Contains(input.Answers[i], code) {
					t.Errorf("answer %d is %d, want one of %v: %.500q", i, code, input.Answers[i], answer)
				}
			}
		})
	}
	expectAnswersAtOnce(t, address)
}

func TestWhoHangsUpAnywhereIsSurvived(t *testing.T) {
	listener, address := listenHostile(t)
	defer listener.Close()
	random := rand.New(rand.NewPCG(47, 11))
	for _, input := range hostileInputs(t) {
		all := input.bytes()
		for round := range 8 {
			cut := len(all)
			if round > 0 {
				cut = random.IntN(len(all) + 1)
			}
			connection := dial(t, address)
			_, _ = connection.Write(all[:cut])
			if round%2 == 1 {
				_ = connection.SetLinger(0)
			}
			connection.Close()
		}
		expectAnswersAtOnce(t, address)
	}
}

func TestAFloodThatHangsUpLeavesItAnswering(t *testing.T) {
	listener, address := listenHostile(t)
	defer listener.Close()
	var attackers sync.WaitGroup
	for _, text := range []string{"\r\n\r\n\r\n", half, strings.Repeat("A", 300_000)} {
		attackers.Go(func() {
			for range 500 {
				if connection, err := net.Dial("tcp", address); err == nil {
					_, _ = io.WriteString(connection, text)
					connection.Close()
				}
			}
		})
	}
	attackers.Wait()
	expectAnswersAtOnce(t, address)
}

func TestClientsThatHoldConnectionsKeepNobodyOut(t *testing.T) {
	listener, address := listenHostile(t)
	defer listener.Close()
	begin := time.Now()
	var held []net.Conn
	for i := range 2 * connectionsMax {
		connection := dial(t, address)
		defer connection.Close()
		if i%2 == 0 {
			fmt.Fprint(connection, half)
		}
		held = append(held, connection)
	}
	expectAnswersAtOnce(t, address)
	// Those that have been waited for longest had to go, long before their time was up.
	if n, err := held[0].Read(make([]byte, 1)); n != 0 || err == nil || time.Since(begin) > readTimeout/2 {
		t.Errorf("the first connection: %d, %v, after %v", n, err, time.Since(begin))
	}
	last := held[len(held)-1]
	if _, err := fmt.Fprint(last, "GET /harena HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if answer, _ := io.ReadAll(last); !strings.HasPrefix(string(answer), "HTTP/1.1 200") {
		t.Errorf("the last connection: %.100q", answer)
	}
}

func TestWhoHasJustBeenAnsweredIsNotTheNextToGo(t *testing.T) {
	listener, address := listenHostile(t)
	defer listener.Close()
	asker := dial(t, address)
	defer asker.Close()
	ask := func() error {
		fmt.Fprint(asker, "HEAD /harena HTTP/1.1\r\nHost: localhost\r\n\r\n")
		_, err := asker.Read(make([]byte, 4096))
		return err
	}
	for range connectionsMax - 1 {
		defer dial(t, address).Close()
	}
	if err := ask(); err != nil {
		t.Fatal(err)
	}
	// Its answer may be here before the server knows that it has been sent.
	time.Sleep(200 * time.Millisecond)
	expectAnswersAtOnce(t, address)
	if err := ask(); err != nil {
		t.Errorf("it was closed: %v", err)
	}
}

func TestItEndsAtOnceWhileClientsHang(t *testing.T) {
	listener, address := listenHostile(t)
	for i := range 60 {
		connection := dial(t, address)
		defer connection.Close()
		fmt.Fprint(connection, []string{"", half, "POST /harena/api/undo HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " +
			testToken + "\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"}[i%3])
	}
	expectAnswersAtOnce(t, address)
	begin := time.Now()
	if err := listener.Close(); err != nil || time.Since(begin) > atOnce {
		t.Errorf("%v, after %v", err, time.Since(begin))
	}
}
