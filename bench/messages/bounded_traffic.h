#pragma once

#include <memory>
#include <string_view>

#include "bench/messages/bounds.h"
#include "bench/messages/typed_traffic.h"
#include "bench/workloads/workloads.h"

namespace harena::bench {

/// TypedTraffic of this program's types, in the modes of BoundModes() too.
template <typename Handler>
class BoundedTraffic final : public TypedTraffic<Handler, kTypesCarryCodec> {
 public:
  using Base = TypedTraffic<Handler, kTypesCarryCodec>;
  using Base::Base;

  std::unique_ptr<RunnerFactory> MakeRunners(std::string_view mode) const override {
    if (auto bound = MakeBoundFactory(mode, *this, Handler::Request::descriptor())) return bound;
    return Base::MakeRunners(mode);
  }
};

}  // namespace harena::bench
