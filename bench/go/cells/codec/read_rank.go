package codec

import "github.com/harena-project/harena/bench/go/gen/vt/benchpb"

func readRank(m *benchpb.RankRequest) uint64 {
	sum := ofText(m.GetRequestId()) + readTexts(m.GetContext())
	if v := m.GetViewer(); v != nil {
		sum += ofText(v.GetViewerId()) + ofText(v.GetLocale()) + readPlace(v.GetPlace())
		for _, weight := range v.GetWeights() {
			sum += ofFloat(weight)
		}
	}
	for _, group := range m.GetGroups() {
		sum += ofText(group.GetTitle()) + readTexts(group.GetLabels())
		for key, value := range group.GetCounters() {
			sum += ofText(key) + uint64(value)
		}
		for _, item := range group.GetItems() {
			sum += readCandidate(item)
		}
	}
	return sum
}

func readCandidate(m *benchpb.Candidate) uint64 {
	sum := ofText(m.GetItemId()) + ofText(m.GetName()) + ofText(m.GetUrl()) + ofFloat(m.GetPrice()) +
		readPlace(m.GetPlace()) + uint64(m.GetStock()) + ofBytes(m.GetFingerprint())
	for _, tag := range m.GetTags() {
		sum += ofText(tag.GetKey()) + ofText(tag.GetValue()) + ofFloat(tag.GetWeight())
		if origin := tag.GetOrigin(); origin != nil {
			sum += ofText(origin.GetFeed()) + uint64(origin.GetRevision())
		}
	}
	for _, score := range m.GetScores() {
		sum += ofFloat(score)
	}
	for _, category := range m.GetCategories() {
		sum += uint64(category)
	}
	for _, seen := range m.GetHistory() {
		sum += uint64(seen)
	}
	return sum
}

func readPlace(m *benchpb.Place) uint64 {
	if m == nil {
		return 0
	}
	return ofFloat(m.GetLatitude()) + ofFloat(m.GetLongitude()) + ofText(m.GetRegion())
}

func readTexts(texts map[string]string) uint64 {
	sum := uint64(0)
	for key, value := range texts {
		sum += ofText(key) + ofText(value)
	}
	return sum
}
