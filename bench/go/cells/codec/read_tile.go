package codec

import "github.com/harena-project/harena/bench/go/gen/vt/tilepb"

func readTile(m *tilepb.Tile) uint64 {
	sum := uint64(0)
	for _, layer := range m.GetLayers() {
		sum += ofNumberAt(layer.Version) + ofTextAt(layer.Name) + ofNumberAt(layer.Extent)
		for _, key := range layer.GetKeys() {
			sum += ofText(key)
		}
		for _, v := range layer.GetValues() {
			sum += ofTextAt(v.StringValue) + ofFloatAt(v.FloatValue) + ofFloatAt(v.DoubleValue) +
				ofNumberAt(v.IntValue) + ofNumberAt(v.UintValue) + ofNumberAt(v.SintValue) + ofBoolAt(v.BoolValue)
		}
		for _, feature := range layer.GetFeatures() {
			sum += ofNumberAt(feature.Id) + ofNumberAt(feature.Type)
			for _, tag := range feature.GetTags() {
				sum += uint64(tag)
			}
			for _, number := range feature.GetGeometry() {
				sum += uint64(number)
			}
		}
	}
	return sum
}
