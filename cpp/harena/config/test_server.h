// A server for tests: methods that are published as an adapter publishes them.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <google/protobuf/empty.pb.h>

#include "harena/pb/admin/method_set.h"
#include "harena/pb/admin/served_methods.h"

namespace harena::config {

class TestServer {
 public:
  /// `check` is what an adapter finds wrong with options.
  explicit TestServer(pb::MethodSet::Check check = nullptr) : set_("test", check) {}

  void Add(const std::string& name, const Options& options = {}) {
    const auto& prototype = google::protobuf::Empty::default_instance();
    set_.Add(std::make_shared<pb::Method>(
        name, options, prototype, prototype,
        pb::MessageTypes{.why_not_reusable = std::nullopt, .codec = true}));
  }
  Options OptionsOf(const std::string& name) const { return set_.Find(name)->scopes().options(); }
  pb::MethodSet& set() { return set_; }

 private:
  pb::MethodSet set_;
  pb::Published published_{set_};
};

}  // namespace harena::config
