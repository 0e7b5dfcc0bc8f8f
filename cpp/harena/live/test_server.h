// A server's methods to show, for tests.
#pragma once

#include <memory>
#include <string>

#include <google/protobuf/empty.pb.h>

#include "harena/mem/page_pool.h"
#include "harena/pb/admin/method_set.h"
#include "harena/pb/admin/served_methods.h"

namespace harena::live {

inline constexpr char kTestToken[] = "a-token-of-the-tests";

class TestServer {
 public:
  explicit TestServer(std::string_view framework = "test", const Options& options = {})
      : methods_(framework), published_(methods_) {
    Add("/test.Live/Rank", options);
    Add("/test.Live/Board", options);
  }

  void Add(const std::string& name, const Options& options) {
    const auto& prototype = google::protobuf::Empty::default_instance();
    methods_.Add(std::make_shared<pb::Method>(
        name, options, prototype, prototype,
        pb::MessageTypes{.why_not_reusable = "no reuse here", .codec = true}));
  }

  pb::Method& rank() const { return *methods_.Find("/test.Live/Rank"); }
  pb::Method& board() const { return *methods_.Find("/test.Live/Board"); }
  pb::MethodSet& methods() { return methods_; }

 private:
  pb::MethodSet methods_;
  pb::Published published_;
};

}  // namespace harena::live
