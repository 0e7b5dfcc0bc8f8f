package workloads

import (
	"google.golang.org/protobuf/proto"

	"github.com/harena-project/harena/bench/go/gen/vt/benchpb"
)

// A candidate's mean wire size with its share of the group, and what is left of a request without
// candidates: the C++ generator's numbers.
const (
	bytesPerCandidate  = 729
	bytesPerRequest    = 450
	candidatesPerGroup = 8
)

// fillPlace and the others draw from the dice in the order of the C++ generator.
func fillPlace(d *dice) *benchpb.Place {
	return &benchpb.Place{
		Latitude:  d.fraction()*180 - 90,
		Longitude: d.fraction()*360 - 180,
		Region:    d.text(),
	}
}

func fillTag(d *dice) *benchpb.Tag {
	return &benchpb.Tag{
		Key:    d.textOf(d.between(8, 20)),
		Value:  d.text(),
		Weight: float32(d.fraction()),
		Origin: &benchpb.Origin{Feed: d.textOf(d.between(8, 24)), Revision: d.between(1, 1_000_000)},
	}
}

func fillCandidate(d *dice) *benchpb.Candidate {
	item := &benchpb.Candidate{
		ItemId: d.textOf(d.between(12, 24)),
		Name:   d.text(),
		Url:    d.textOf(60),
		Price:  float64(d.between(1, 100_000)) / 100,
	}
	for range d.between(3, 5) {
		item.Tags = append(item.Tags, fillTag(d))
	}
	for range 8 {
		item.Scores = append(item.Scores, d.fraction())
	}
	for range d.between(4, 12) {
		item.Categories = append(item.Categories, int32(d.between(0, 30_000)))
	}
	for range d.between(8, 40) {
		item.History = append(item.History, uint32(d.between(0, 2_000_000)))
	}
	item.Place = fillPlace(d)
	if d.between(0, 3) != 0 {
		item.Stock = proto.Int64(d.between(0, 5000))
	}
	item.Fingerprint = d.bytes(16)
	return item
}

// fillTexts gives each value before its key, as C++ evaluates an assignment.
func fillTexts(d *dice) map[string]string {
	texts := make(map[string]string)
	for range 4 {
		value := d.text()
		texts[d.textOf(12)] = value
	}
	return texts
}

// fillRankRequest fills a request with strings of 8 to 60 bytes, maps, packed numbers and bytes, five
// levels deep. It depends on its arguments only.
func fillRankRequest(candidates, groups int, seed uint64) *benchpb.RankRequest {
	d := newDice(seed)
	request := &benchpb.RankRequest{RequestId: d.textOf(32)}
	request.Viewer = &benchpb.Viewer{ViewerId: d.textOf(24), Locale: "en-GB-oxendict"}
	for range 8 {
		request.Viewer.Weights = append(request.Viewer.Weights, d.fraction())
	}
	request.Viewer.Place = fillPlace(d)
	request.Context = fillTexts(d)
	for g := range groups {
		group := &benchpb.CandidateGroup{Title: d.text(), Labels: fillTexts(d), Counters: make(map[string]int64)}
		for range 2 {
			value := d.between(0, 10_000_000)
			group.Counters[d.textOf(12)] = value
		}
		for range candidates*(g+1)/groups - candidates*g/groups {
			group.Items = append(group.Items, fillCandidate(d))
		}
		request.Groups = append(request.Groups, group)
	}
	return request
}

// makeRankRequests returns the wire bytes of requests whose sizes are spread evenly from 3/4 to 5/4 of
// nominalBytes; one variant means one request of the nominal size.
func makeRankRequests(nominalBytes float64, variants int, seed uint64) ([][]byte, error) {
	var requests [][]byte
	for v := range variants {
		share := 1.0
		if variants > 1 {
			share = 0.75 + 0.5*float64(v)/float64(variants-1)
		}
		candidates := max(1, int((nominalBytes*share-bytesPerRequest)/bytesPerCandidate+0.5))
		groups := max(1, candidates/candidatesPerGroup)
		wire, err := DeterministicBytes(fillRankRequest(candidates, groups, seed+uint64(v)))
		if err != nil {
			return nil, err
		}
		requests = append(requests, wire)
	}
	return requests, nil
}

// DeterministicBytes returns the message's wire bytes with map entries in key order, so that equal
// messages give equal bytes.
func DeterministicBytes(m proto.Message) ([]byte, error) {
	return proto.MarshalOptions{Deterministic: true}.Marshal(m)
}
