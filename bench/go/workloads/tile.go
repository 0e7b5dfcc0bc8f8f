package workloads

import (
	"cmp"
	"math"
	"slices"

	"github.com/harena-project/harena/bench/go/gen/vt/tilepb"
	"github.com/harena-project/harena/go/arena"
)

const (
	tileShrink      = 2
	tileClosePath   = 7
	tileValueUnused = math.MaxUint32
)

// RestyleTile derives a tile: every layer's keys sorted and renumbered, its features grouped by
// geometry type (points, lines, polygons; stable within a type), its values renumbered in the order of
// their first use, its geometry re-quantised to half the extent. Parts that point nowhere (a tag
// without a key or value, a truncated geometry command) are dropped.
//
// The tile and what it takes to build it lie in the arena, or on the heap when that is nil.
func RestyleTile(a *arena.Arena, tile *tilepb.Tile) *tilepb.Tile {
	restyled := newOf[tilepb.Tile](a)
	restyled.Layers = makeSlice[*tilepb.Tile_Layer](a, 0, len(tile.GetLayers()))
	for _, layer := range tile.GetLayers() {
		w := newLayerWriter(a, layer)
		for _, kind := range []tilepb.Tile_GeomType{tilepb.Tile_UNKNOWN, tilepb.Tile_POINT,
			tilepb.Tile_LINESTRING, tilepb.Tile_POLYGON} {
			for _, feature := range layer.GetFeatures() {
				if feature.GetType() == kind {
					w.addFeature(feature)
				}
			}
		}
		restyled.Layers = append(restyled.Layers, w.to)
	}
	return restyled
}

// layerWriter copies features into a layer whose values are numbered as they are first used.
type layerWriter struct {
	arena       *arena.Arena
	from, to    *tilepb.Tile_Layer
	keyNumber   []uint32 // new by old
	valueNumber []uint32
}

func newLayerWriter(a *arena.Arena, from *tilepb.Tile_Layer) *layerWriter {
	keys := from.GetKeys()
	w := &layerWriter{
		arena:       a,
		from:        from,
		to:          newOf[tilepb.Tile_Layer](a),
		keyNumber:   makeSlice[uint32](a, len(keys), len(keys)),
		valueNumber: makeSlice[uint32](a, len(from.GetValues()), len(from.GetValues())),
	}
	w.to.Version = some(a, from.GetVersion())
	w.to.Name = some(a, from.GetName())
	w.to.Extent = some(a, from.GetExtent()/tileShrink)
	w.to.Keys = makeSlice[string](a, 0, len(keys))
	w.to.Features = makeSlice[*tilepb.Tile_Feature](a, 0, len(from.GetFeatures()))
	for i := range w.valueNumber {
		w.valueNumber[i] = tileValueUnused
	}
	sorted := makeSlice[uint32](a, len(keys), len(keys))
	for i := range sorted {
		sorted[i] = uint32(i)
	}
	slices.SortStableFunc(sorted, func(x, y uint32) int { return cmp.Compare(keys[x], keys[y]) })
	for number, old := range sorted {
		w.keyNumber[old] = uint32(number)
		w.to.Keys = append(w.to.Keys, keys[old])
	}
	return w
}

func (w *layerWriter) addFeature(from *tilepb.Tile_Feature) {
	feature := newOf[tilepb.Tile_Feature](w.arena)
	w.to.Features = append(w.to.Features, feature)
	if from.Id != nil {
		feature.Id = some(w.arena, *from.Id)
	}
	if from.Type != nil {
		feature.Type = some(w.arena, *from.Type)
	}
	tags := from.GetTags()
	feature.Tags = makeSlice[uint32](w.arena, 0, len(tags))
	for i := 0; i+1 < len(tags); i += 2 {
		key, value := tags[i], tags[i+1]
		if int(key) >= len(w.keyNumber) || int(value) >= len(w.valueNumber) {
			continue
		}
		feature.Tags = append(feature.Tags, w.keyNumber[key], w.numberValue(value))
	}
	feature.Geometry = requantise(w.arena, from.GetGeometry())
}

func (w *layerWriter) numberValue(old uint32) uint32 {
	if w.valueNumber[old] == tileValueUnused {
		w.valueNumber[old] = uint32(len(w.to.Values))
		w.to.Values = appendTo(w.arena, w.to.Values, copyValue(w.arena, w.from.Values[old]))
	}
	return w.valueNumber[old]
}

func copyValue(a *arena.Arena, from *tilepb.Tile_Value) *tilepb.Tile_Value {
	value := newOf[tilepb.Tile_Value](a)
	value.StringValue = copied(a, from.StringValue)
	value.FloatValue = copied(a, from.FloatValue)
	value.DoubleValue = copied(a, from.DoubleValue)
	value.IntValue = copied(a, from.IntValue)
	value.UintValue = copied(a, from.UintValue)
	value.SintValue = copied(a, from.SintValue)
	value.BoolValue = copied(a, from.BoolValue)
	return value
}

func copied[T any](a *arena.Arena, from *T) *T {
	if from == nil {
		return nil
	}
	return some(a, *from)
}

// axis is one axis of the cursor that delta-coded geometry moves.
type axis struct{ fine, coarse int64 }

// move takes a delta in the old resolution and returns the delta in the new one, still coded.
func (x *axis) move(coded uint32) uint32 {
	x.fine += int64(int32(coded>>1) ^ -int32(coded&1))
	next := x.fine / tileShrink
	delta := int32(next - x.coarse)
	x.coarse = next
	return uint32(delta<<1) ^ uint32(delta>>31)
}

func requantise(a *arena.Arena, from []uint32) []uint32 {
	var x, y axis
	to := makeSlice[uint32](a, 0, len(from))
	for i := 0; i < len(from); {
		command := from[i]
		i++
		to = append(to, command)
		if command&7 == tileClosePath {
			continue
		}
		for points := command >> 3; points > 0 && i+1 < len(from); points-- {
			to = append(to, x.move(from[i]), y.move(from[i+1]))
			i += 2
		}
	}
	return to
}
