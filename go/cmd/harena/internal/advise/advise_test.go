package advise

import (
	"strings"
	"testing"

	"github.com/harena-project/harena/go/cmd/harena/internal/status"
	"github.com/harena-project/harena/go/cmd/harena/internal/status/statustest"
	"github.com/harena-project/harena/go/config"
)

func pointer[T any](x T) *T { return &x }

// find returns the advice for a setting, or nil.
func (r Report) find(method, key string) *Advice {
	for _, a := range r.Advices {
		if a.Method == method && a.Key == key {
			return &a
		}
	}
	return nil
}

// expect compares the change, and looks for words of the reasons.
func expect(t *testing.T, r Report, method, key, from, to string, words ...string) {
	t.Helper()
	a := r.find(method, key)
	if a == nil {
		t.Errorf("%s: no advice on %q", method, key)
		return
	}
	if a.From != from || a.To != to {
		t.Errorf("%s %s: %s -> %s; want %s -> %s", method, key, a.From, a.To, from, to)
	}
	for _, word := range words {
		if !strings.Contains(a.Evidence+"\n"+a.Saving, word) {
			t.Errorf("%s %s: %q is not in\n%s\n%s", method, key, word, a.Evidence, a.Saving)
		}
	}
}

func unexpected(t *testing.T, r Report, method, key string) {
	t.Helper()
	if a := r.find(method, key); a != nil {
		t.Errorf("advice that nothing speaks for: %+v", *a)
	}
}

func TestRecordedProfile(t *testing.T) {
	r := Advise(statustest.Recorded(t))
	const rank, feed = "/shop.Ranking/Rank", "/shop.Feed/"
	expect(t, r, rank, "request_bytes_max", "unlimited", "8MiB", "the largest of 100000 requests is 2.9 MiB", "at most 8.0 MiB")
	expect(t, r, rank, "decoded_ratio_max", "unlimited", "50", "2.6 bytes per byte")
	unexpected(t, r, rank, "first_block_bytes")
	expect(t, r, "/shop.Ranking/Explain", "mode", "heap", "codec", "20000 requests")
	expect(t, r, feed+"Get", "mode", "reuse", "codec", "60000 messages were built", "48.0 MiB")
	expect(t, r, feed+"Put", "first_block_bytes", "8MiB", "auto", "about 7.9 MiB for each request in flight, 4 of them")
	expect(t, r, feed+"Put", "", "served as pages", "codec", "no generated codec", "harena_generate")
	unexpected(t, r, feed+"Get", "request_bytes_max")
	if got := r.find(feed+"Delete", "request_bytes_max"); got != nil {
		t.Errorf("a method whose settings fit: %+v", *got)
	}
	notes := make(map[string]string)
	for _, n := range r.Notes {
		notes[n.Method] = n.Text
	}
	if notes[feed+"Delete"] != "its settings fit what was measured" || !strings.Contains(notes["/shop.Admin/Reset"], "no traffic") {
		t.Errorf("the notes are %v", notes)
	}
	// Nothing is measured of the bytes of mode heap, and no timeline was recorded.
	unexpected(t, r, "/shop.Ranking/Explain", "request_bytes_max")
	unexpected(t, r, "", "process_bytes_max")
	unexpected(t, r, "", "decay_after")
}

func TestNoTrafficNoAdvice(t *testing.T) {
	p := statustest.Recorded(t)
	for i := range p.Status.Methods {
		p.Status.Methods[i].Requests = uint64(i) // 0 to 5
	}
	if r := Advise(p); len(r.Advices) != 0 || len(r.Notes) != len(p.Status.Methods) || !strings.Contains(r.Text(), "no advice") {
		t.Errorf("got %+v", r)
	}
	if r := Advise(status.Profile{}); len(r.Advices) != 0 || !strings.Contains(r.Text(), "no methods on scopes") {
		t.Errorf("got %+v", r)
	}
}

// alone returns the advice for one method, the first of the profile, after an edit.
func alone(t *testing.T, edit func(p *status.Profile, m *status.Method)) Report {
	t.Helper()
	p := statustest.Recorded(t)
	p.Status.Methods = p.Status.Methods[:1]
	edit(&p, &p.Status.Methods[0])
	return Advise(p)
}

func TestRequestBudget(t *testing.T) {
	name := "/shop.Ranking/Rank"
	tight := alone(t, func(_ *status.Profile, m *status.Method) { m.Settings.RequestBytesMax = pointer(int64(3200000)) })
	expect(t, tight, name, "request_bytes_max", "3125KiB", "8MiB", "93 % of the limit")
	refusing := alone(t, func(_ *status.Profile, m *status.Method) {
		m.Settings.RequestBytesMax = pointer(4 * mib)
		m.RefusedBy["request_bytes_max"] = 7
	})
	expect(t, refusing, name, "request_bytes_max", "4MiB", "8MiB", "7 of 100000 requests were refused")
	loose := alone(t, func(_ *status.Profile, m *status.Method) { m.Settings.RequestBytesMax = pointer(gib) })
	expect(t, loose, name, "request_bytes_max", "1GiB", "8MiB", "instead of 1.0 GiB")
	fitting := alone(t, func(_ *status.Profile, m *status.Method) { m.Settings.RequestBytesMax = pointer(16 * mib) })
	unexpected(t, fitting, name, "request_bytes_max")
	percentile := alone(t, func(_ *status.Profile, m *status.Method) { m.Bytes.Max = nil })
	expect(t, percentile, name, "request_bytes_max", "unlimited", "16MiB", "four times the 99th percentile")
	small := alone(t, func(_ *status.Profile, m *status.Method) { m.Bytes.Max = pointer(int64(300)) })
	expect(t, small, name, "request_bytes_max", "unlimited", "1MiB")
	heap := alone(t, func(_ *status.Profile, m *status.Method) {
		m.Mode, m.Served, m.Modes = "heap", "heap", []string{"heap"}
	})
	unexpected(t, heap, name, "request_bytes_max")
	unexpected(t, heap, name, "decoded_ratio_max")
}

// There the arena's bytes do not have the strings, which are parts of the wire.
func TestRatioInGo(t *testing.T) {
	inGo := alone(t, func(p *status.Profile, _ *status.Method) { p.Status.Language = "go" })
	expect(t, inGo, "/shop.Ranking/Rank", "decoded_ratio_max", "unlimited", "50", "3.6 bytes per byte")
}

func TestFirstBlock(t *testing.T) {
	name := "/shop.Ranking/Rank"
	fixed := func(bytes int64) func(*status.Profile, *status.Method) {
		return func(_ *status.Profile, m *status.Method) {
			m.Settings.FirstBlockBytes, m.FirstBlockBytes = &bytes, &bytes
		}
	}
	expect(t, alone(t, fixed(8*mib)), name, "first_block_bytes", "8MiB", "auto",
		"99 of 100 requests take 1.2 MiB", "about 7.8 MiB for each request in flight, 12 of them")
	// By the middles of the histogram's buckets, 160, 384, 768 and 2560 KiB: from 64 KiB on 2.5, 6, 12 and
	// 40 blocks; from 256 KiB on 1, 3, 9 and 37.
	expect(t, alone(t, fixed(64*kib)), name, "first_block_bytes", "64KiB", "auto",
		"half of them take more than 488.3 KiB", "about 6.6 instead of 9.4 blocks")
	unexpected(t, alone(t, fixed(256*kib)), name, "first_block_bytes")
	unexpected(t, alone(t, fixed(mib)), name, "first_block_bytes")
	unmeasured := alone(t, func(p *status.Profile, m *status.Method) {
		fixed(64*kib)(p, m)
		m.Bytes.Histogram = nil
	})
	expect(t, unmeasured, name, "first_block_bytes", "64KiB", "auto", "fewer blocks per request")
	inGo := alone(t, func(p *status.Profile, m *status.Method) {
		fixed(8*mib)(p, m)
		p.Status.Language = "go"
	})
	unexpected(t, inGo, name, "first_block_bytes")
}

func TestReuseThatPaysStays(t *testing.T) {
	p := statustest.Recorded(t)
	p.Status.Methods[2].Kept.InstancesBuilt = 100
	unexpected(t, Advise(p), "/shop.Feed/Get", "mode")
}

// timeline returns seconds in which the pool kept and the process used so much.
func timeline(samples int, kept, used func(second int) int64) status.Timeline {
	line := status.Timeline{IntervalMS: 1000}
	for i := range samples {
		line.Samples = append(line.Samples,
			status.Sample{AtMS: int64(i) * 1000, ProcessBytesUsed: used(i), PoolBytesRetained: pointer(kept(i))})
	}
	return line
}

func steady(bytes int64) func(int) int64 { return func(int) int64 { return bytes } }

func TestProcessBudget(t *testing.T) {
	p := statustest.Recorded(t)
	p.Timeline = timeline(900, steady(0), func(i int) int64 { return int64(i%100) * mib })
	expect(t, Advise(p), "", "process_bytes_max", "unlimited", "512MiB", "at most 99.0 MiB in the last 900 samples")
	p.Status.Process = status.Process{BytesMax: pointer(128 * mib), Refusals: 5}
	expect(t, Advise(p), "", "process_bytes_max", "128MiB", "512MiB", "5 blocks were refused at 128.0 MiB")
	p.Status.Process = status.Process{BytesMax: pointer(128 * mib)}
	unexpected(t, Advise(p), "", "process_bytes_max")
	p.Status.Process = status.Process{}
	p.Timeline.Samples = p.Timeline.Samples[:samplesMin-1]
	unexpected(t, Advise(p), "", "process_bytes_max")
}

func TestRetentionTooHigh(t *testing.T) {
	p := statustest.Recorded(t)
	p.Timeline = timeline(900, func(i int) int64 { return (100 + int64(i%50)) * mib }, steady(0))
	expect(t, Advise(p), "", "retained_bytes_max", "256MiB", "53MiB", "at least 100.0 MiB of free memory was kept, unused", "about 100.0 MiB of RSS")
	p.Status.Pools[0].DecayAfterMS = 0
	expect(t, Advise(p), "", "decay_after", "0s", "10s", "about 100.0 MiB of RSS")
	p.Timeline = timeline(900, func(i int) int64 { return int64(i%50) * mib }, steady(0))
	unexpected(t, Advise(p), "", "decay_after") // each byte of it was used
	p.Timeline = timeline(310, func(i int) int64 { return min(int64(i), 1) * 100 * mib }, steady(0))
	expect(t, Advise(p), "", "decay_after", "0s", "10s", "100.0 MiB") // the server began with none
}

func TestRetentionTooLow(t *testing.T) {
	p := statustest.Recorded(t)
	pool := &p.Status.Pools[0]
	pool.BytesDecommitted = 240000 * 100 * kib
	pool.BytesRetained, pool.RetainedBytesMax = 63*mib, pointer(64*mib)
	expect(t, Advise(p), "", "retained_bytes_max", "64MiB", "128MiB", "100.0 KiB for each", "up to 64.0 MiB more RSS")
	pool.BytesRetained, pool.DecayAfterMS = 10*mib, 500
	expect(t, Advise(p), "", "decay_after", "500ms", "10s", "stays 9.5s longer")
	pool.DecayAfterMS = 10000
	unexpected(t, Advise(p), "", "decay_after")
	unexpected(t, Advise(p), "", "retained_bytes_max")
}

// What is written can be read, whatever a server calls its methods.
func TestFile(t *testing.T) {
	p := statustest.Recorded(t)
	p.Timeline = timeline(900, func(i int) int64 { return (100 + int64(i%50)) * mib }, steady(mib))
	p.Status.Methods[0].Name = "/shop.R\u00e4nking\"\\/Rank"
	text := Advise(p).File("today.json\nmode: heap")
	if !strings.HasPrefix(text, "# yaml-language-server: $schema="+schema+"\n# Written by `harena advise` from today.jsonmode: heap.\n") {
		t.Errorf("the first lines are not for editors and readers:\n%s", text)
	}
	c, err := config.Parse("harena.yaml", []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if got := c.For("/shop.Feed/Get")["mode"].Text; got != "codec" {
		t.Errorf("mode is %q in\n%s", got, text)
	}
	if got := c.For(p.Status.Methods[0].Name)["request_bytes_max"].Int; got != 8*mib {
		t.Errorf("request_bytes_max is %d in\n%s", got, text)
	}
	if c.Process()["process_bytes_max"].Int != 256*mib || c.Process()["retained_bytes_max"].Int != 53*mib {
		t.Errorf("the process's settings are not in\n%s", text)
	}
	if c, err = config.Parse("harena.yaml", []byte(Report{}.File("today.json"))); err != nil || len(c.Methods()) != 0 {
		t.Errorf("no advice: %v", err)
	}
}

func TestSizes(t *testing.T) {
	for bytes, want := range map[int64]string{0: "0", 1000: "1000", 1536: "1536", 3 * kib: "3KiB", 5 * mib: "5MiB", 2 * gib: "2GiB"} {
		if got := Size(bytes); got != want {
			t.Errorf("Size(%d) is %s; want %s", bytes, got, want)
		}
	}
	if got := powerOfTwo(1<<62 + 1); got != 1<<62 {
		t.Errorf("powerOfTwo is %d beyond what there is", got)
	}
}
