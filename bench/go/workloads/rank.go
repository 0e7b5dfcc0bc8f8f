package workloads

import (
	"cmp"
	"slices"

	"github.com/harena-project/harena/bench/go/gen/vt/benchpb"
	"github.com/harena-project/harena/go/arena"
)

// Rank scores every candidate by the viewer's weights and copies it into the response: items best
// first within a group, groups ordered by their best item. Ties keep the order of the request.
//
// The response and what it takes to build it lie in the arena, or on the heap when that is nil. It
// shares strings and bytes with the request, and nothing else.
func Rank(a *arena.Arena, request *benchpb.RankRequest) *benchpb.RankResponse {
	viewer := request.GetViewer()
	groups := makeSlice[scoredGroup](a, 0, len(request.GetGroups()))
	for _, group := range request.GetGroups() {
		groups = append(groups, scoreGroup(a, viewer, group))
	}
	slices.SortStableFunc(groups, func(x, y scoredGroup) int { return cmp.Compare(y.scoreBest, x.scoreBest) })

	response := newOf[benchpb.RankResponse](a)
	response.RequestId = request.GetRequestId()
	response.ViewerId = viewer.GetViewerId()
	response.Context = copyMap(a, request.GetContext())
	response.Groups = makeSlice[*benchpb.RankedGroup](a, 0, len(groups))
	for i := range groups {
		response.Groups = append(response.Groups, rankGroup(a, viewer, &groups[i]))
	}
	return response
}

type scored struct {
	item  *benchpb.Candidate
	score float64
}

type scoredGroup struct {
	group     *benchpb.CandidateGroup
	items     []scored // best first
	scoreBest float64
}

func scoreOf(viewer *benchpb.Viewer, item *benchpb.Candidate) float64 {
	score := 0.0
	for i := range min(len(viewer.GetWeights()), len(item.GetScores())) {
		score += float64(viewer.Weights[i] * item.Scores[i]) // the conversion forbids a fused multiply-add
	}
	return score
}

func scoreGroup(a *arena.Arena, viewer *benchpb.Viewer, group *benchpb.CandidateGroup) scoredGroup {
	items := makeSlice[scored](a, 0, len(group.GetItems()))
	for _, item := range group.GetItems() {
		items = append(items, scored{item, scoreOf(viewer, item)})
	}
	slices.SortStableFunc(items, func(x, y scored) int { return cmp.Compare(y.score, x.score) })
	best := 0.0
	if len(items) > 0 {
		best = items[0].score
	}
	return scoredGroup{group, items, best}
}

func rankGroup(a *arena.Arena, viewer *benchpb.Viewer, from *scoredGroup) *benchpb.RankedGroup {
	group := newOf[benchpb.RankedGroup](a)
	group.Title = from.group.GetTitle()
	group.ScoreBest = from.scoreBest
	group.Labels = copyMap(a, from.group.GetLabels())
	group.Counters = copyMap(a, from.group.GetCounters())
	group.Items = makeSlice[*benchpb.RankedItem](a, 0, len(from.items))
	for i := range from.items {
		group.Items = append(group.Items, rankItem(a, viewer, &from.items[i], uint32(i+1)))
	}
	return group
}

func rankItem(a *arena.Arena, viewer *benchpb.Viewer, from *scored, position uint32) *benchpb.RankedItem {
	item := from.item
	ranked := newOf[benchpb.RankedItem](a)
	ranked.ItemId = item.GetItemId()
	ranked.Name = item.GetName()
	ranked.Url = item.GetUrl()
	ranked.Price = item.GetPrice()
	ranked.Score = from.score
	ranked.Position = position
	terms := min(len(viewer.GetWeights()), len(item.GetScores()))
	ranked.Contributions = makeSlice[float64](a, 0, terms)
	for i := range terms {
		ranked.Contributions = append(ranked.Contributions, viewer.Weights[i]*item.Scores[i])
	}
	ranked.Categories = append(makeSlice[int32](a, 0, len(item.GetCategories())), item.GetCategories()...)
	ranked.History = append(makeSlice[uint32](a, 0, len(item.GetHistory())), item.GetHistory()...)
	ranked.Reasons = makeSlice[*benchpb.Tag](a, 0, len(item.GetTags()))
	for _, tag := range item.GetTags() {
		ranked.Reasons = append(ranked.Reasons, copyTag(a, tag))
	}
	if item.Place != nil {
		ranked.Place = copyPlace(a, item.Place)
	}
	if item.Stock != nil {
		ranked.Stock = some(a, *item.Stock)
	}
	ranked.Fingerprint = item.GetFingerprint()
	return ranked
}

func copyTag(a *arena.Arena, from *benchpb.Tag) *benchpb.Tag {
	tag := newOf[benchpb.Tag](a)
	tag.Key = from.GetKey()
	tag.Value = from.GetValue()
	tag.Weight = from.GetWeight()
	if from.Origin != nil {
		tag.Origin = newOf[benchpb.Origin](a)
		tag.Origin.Feed = from.Origin.GetFeed()
		tag.Origin.Revision = from.Origin.GetRevision()
	}
	return tag
}

func copyPlace(a *arena.Arena, from *benchpb.Place) *benchpb.Place {
	place := newOf[benchpb.Place](a)
	place.Latitude = from.GetLatitude()
	place.Longitude = from.GetLongitude()
	place.Region = from.GetRegion()
	return place
}

func copyMap[V any](a *arena.Arena, from map[string]V) map[string]V {
	if len(from) == 0 {
		return nil
	}
	to := makeMap[string, V](a, len(from))
	for key, value := range from {
		to[key] = value
	}
	return to
}
