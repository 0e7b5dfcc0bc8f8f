package capture

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// writtenCalls is what testdata/captures/written.harena-capture holds. The C++ library's test has the
// same calls and the same file.
var writtenCalls = []Call{
	{Method: "/pkg.Service/Method", Request: []byte("re\x00quest"), Response: []byte("response"), Time: time.UnixMilli(1_700_000_000_123)},
	{Method: "/pkg.Service/Method", Request: bytes.Repeat([]byte("x"), 300), Time: time.UnixMilli(1)},
	{Method: "/pkg.Sérvice/Method", Request: []byte{}, Response: []byte{}, Time: time.UnixMilli(0)},
}

const writtenFile = "../../../testdata/captures/written.harena-capture"

func readAll(t testing.TB, r io.Reader) []Call {
	t.Helper()
	var calls []Call
	for reader := NewReader(r); ; {
		call, err := reader.Next()
		if err == io.EOF {
			return calls
		}
		if err != nil {
			t.Fatal(err)
		}
		calls = append(calls, call)
	}
}

func TestBothLanguagesWriteTheSameFile(t *testing.T) {
	want, err := os.ReadFile(writtenFile)
	if err != nil {
		t.Fatal(err)
	}
	var got []byte
	for _, call := range writtenCalls {
		got = AppendRecord(got, call)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("AppendRecord gives\n%x, the file has\n%x", got, want)
	}
	if calls := readAll(t, bytes.NewReader(want)); !reflect.DeepEqual(calls, writtenCalls) {
		t.Errorf("read %+v", calls)
	}
	if calls := readAll(t, iotest.OneByteReader(bytes.NewReader(want))); !reflect.DeepEqual(calls, writtenCalls) {
		t.Errorf("read byte by byte: %+v", calls)
	}
}

func TestARecordTakesOneAllocation(t *testing.T) {
	call := writtenCalls[0]
	if n := testing.AllocsPerRun(100, func() { AppendRecord(nil, call) }); n != 1 {
		t.Errorf("%v allocations", n)
	}
}

func TestACutOffFileIsDamagedAtItsEnd(t *testing.T) {
	whole := AppendRecord(AppendRecord(nil, writtenCalls[0]), writtenCalls[1])
	first := len(AppendRecord(nil, writtenCalls[0]))
	for cut := first + 1; cut < len(whole); cut++ {
		reader := NewReader(bytes.NewReader(whole[:cut]))
		if _, err := reader.Next(); err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		if _, err := reader.Next(); !errors.Is(err, ErrDamaged) {
			t.Fatalf("cut at %d: %v", cut, err)
		}
	}
}

func TestWhatIsNoRecordIsDamaged(t *testing.T) {
	for name, data := range map[string]string{
		"a length of eleven bytes":     strings.Repeat("\xff", 11),
		"a length of 2^60":             "\x80\x80\x80\x80\x80\x80\x80\x80\x10",
		"a length beyond the file":     "\x7f\x0a\x01m",
		"a field beyond the record":    "\x02\x0a\x7f",
		"a method that is no text":     "\x03\x0a\x01\xff",
		"a group that does not end":    "\x01\x2b",
		"field number zero":            "\x02\x00\x00",
		"a length that is not whole":   "\x80",
		"a record of a cut-off varint": "\x02\x20\x80",
	} {
		if _, err := NewReader(strings.NewReader(data)).Next(); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFieldsThatAreNotKnownArePassedOver(t *testing.T) {
	calls := readAll(t, strings.NewReader("\x08\x2a\x01x\x0a\x01m\x30\x07"))
	if len(calls) != 1 || calls[0].Method != "m" || calls[0].Response != nil || !calls[0].Time.IsZero() {
		t.Errorf("%+v", calls)
	}
}

func TestTheErrorOfTheReaderIsSaid(t *testing.T) {
	broken := errors.New("the disk is gone")
	whole := AppendRecord(nil, writtenCalls[1])
	for _, n := range []int{0, 1, 100} {
		_, err := NewReader(io.MultiReader(bytes.NewReader(whole[:n]), iotest.ErrReader(broken))).Next()
		if !errors.Is(err, broken) || errors.Is(err, ErrDamaged) {
			t.Errorf("after %d bytes: %v", n, err)
		}
	}
}

// FuzzReader reads files that may hold anything. What it read, written again, is read as the same.
func FuzzReader(f *testing.F) {
	seeds, err := filepath.Glob("../../../testdata/fuzz/replay_capture_fuzz/*")
	if err != nil || len(seeds) == 0 {
		f.Fatal("no seeds", err)
	}
	for _, path := range append(seeds, writtenFile) {
		seed, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		reader := NewReader(bytes.NewReader(data))
		for total := 0; ; {
			call, err := reader.Next()
			if err == io.EOF || errors.Is(err, ErrDamaged) {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if total += len(call.Method) + len(call.Request) + len(call.Response); total > len(data) {
				t.Fatalf("%d bytes come from %d", total, len(data))
			}
			again, err := NewReader(bytes.NewReader(AppendRecord(nil, call))).Next()
			if call.Time.IsZero() {
				call.Time = again.Time
			}
			if err != nil || !reflect.DeepEqual(again, call) {
				t.Fatalf("%+v became %+v, %v", call, again, err)
			}
		}
	})
}
