#include "bench/workloads/tile_restyle.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace harena::bench {
namespace {

using vector_tile::Tile;

constexpr uint32_t kShrink = 2;
constexpr uint32_t kClosePath = 7;
constexpr uint32_t kUnused = UINT32_MAX;

int64_t Unzigzag(uint32_t coded) { return static_cast<int32_t>((coded >> 1) ^ (~(coded & 1) + 1)); }

uint32_t Zigzag(int64_t value) {
  const auto narrow = static_cast<int32_t>(value);
  return (static_cast<uint32_t>(narrow) << 1) ^ static_cast<uint32_t>(narrow >> 31);
}

/// One axis of the cursor that delta-coded geometry moves.
struct Axis {
  int64_t fine = 0;
  int64_t coarse = 0;

  /// Moves by a delta in the old resolution; returns the delta in the new one, still coded.
  uint32_t Move(uint32_t coded) {
    fine += Unzigzag(coded);
    const int64_t next = fine / static_cast<int64_t>(kShrink);
    const int64_t delta = next - coarse;
    coarse = next;
    return Zigzag(delta);
  }
};

/// The keys' order after sorting, and each old key's new number.
struct KeyOrder {
  std::vector<int> sorted;
  std::vector<uint32_t> number;
};

KeyOrder SortKeys(const Tile::Layer& layer) {
  KeyOrder order;
  order.sorted.resize(static_cast<size_t>(layer.keys_size()));
  std::iota(order.sorted.begin(), order.sorted.end(), 0);
  std::stable_sort(order.sorted.begin(), order.sorted.end(),
                   [&](int a, int b) { return layer.keys(a) < layer.keys(b); });
  order.number.resize(order.sorted.size());
  for (uint32_t n = 0; n < order.sorted.size(); ++n) {
    order.number[static_cast<size_t>(order.sorted[n])] = n;
  }
  return order;
}

void CopyValue(const Tile::Value& from, Tile::Value* to) {
  if (from.has_string_value()) to->set_string_value(from.string_value());
  if (from.has_float_value()) to->set_float_value(from.float_value());
  if (from.has_double_value()) to->set_double_value(from.double_value());
  if (from.has_int_value()) to->set_int_value(from.int_value());
  if (from.has_uint_value()) to->set_uint_value(from.uint_value());
  if (from.has_sint_value()) to->set_sint_value(from.sint_value());
  if (from.has_bool_value()) to->set_bool_value(from.bool_value());
}

void RequantiseGeometry(const Tile::Feature& from, Tile::Feature* to) {
  Axis x, y;
  const int size = from.geometry_size();
  to->mutable_geometry()->Reserve(size);
  for (int i = 0; i < size;) {
    const uint32_t command = from.geometry(i++);
    to->add_geometry(command);
    if ((command & 7) == kClosePath) continue;
    for (uint32_t points = command >> 3; points > 0 && i + 1 < size; --points, i += 2) {
      to->add_geometry(x.Move(from.geometry(i)));
      to->add_geometry(y.Move(from.geometry(i + 1)));
    }
  }
}

/// Copies features into a layer whose values are numbered as they are first used.
class LayerWriter {
 public:
  LayerWriter(const Tile::Layer& from, Tile::Layer* to)
      : from_(from),
        to_(to),
        keys_(SortKeys(from)),
        value_number_(static_cast<size_t>(from.values_size()), kUnused) {
    for (const int key : keys_.sorted) to_->add_keys(from_.keys(key));
  }

  void AddFeature(const Tile::Feature& feature) {
    Tile::Feature* copy = to_->add_features();
    if (feature.has_id()) copy->set_id(feature.id());
    if (feature.has_type()) copy->set_type(feature.type());
    copy->mutable_tags()->Reserve(feature.tags_size());
    for (int i = 0; i + 1 < feature.tags_size(); i += 2) {
      const uint32_t key = feature.tags(i);
      const uint32_t value = feature.tags(i + 1);
      if (key >= keys_.number.size() || value >= value_number_.size()) continue;
      copy->add_tags(keys_.number[key]);
      copy->add_tags(NumberValue(value));
    }
    RequantiseGeometry(feature, copy);
  }

 private:
  uint32_t NumberValue(uint32_t value) {
    uint32_t& number = value_number_[value];
    if (number == kUnused) {
      number = static_cast<uint32_t>(to_->values_size());
      CopyValue(from_.values(static_cast<int>(value)), to_->add_values());
    }
    return number;
  }

  const Tile::Layer& from_;
  Tile::Layer* to_;
  KeyOrder keys_;
  std::vector<uint32_t> value_number_;
};

}  // namespace

void RestyleTile(const Tile& tile, Tile* restyled) {
  for (const Tile::Layer& layer : tile.layers()) {
    Tile::Layer* copy = restyled->add_layers();
    copy->set_version(layer.version());
    copy->set_name(layer.name());
    copy->set_extent(layer.extent() / kShrink);
    LayerWriter writer(layer, copy);
    for (const Tile::GeomType type :
         {Tile::UNKNOWN, Tile::POINT, Tile::LINESTRING, Tile::POLYGON}) {
      for (const Tile::Feature& feature : layer.features()) {
        if (feature.type() == type) writer.AddFeature(feature);
      }
    }
  }
}

}  // namespace harena::bench
