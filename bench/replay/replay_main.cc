// The second half of a replay: the message-cost benchmark over captured messages of the user's own
// types. run.py builds it twice, with the types as protoc writes them and with the codec.
#include <iostream>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "bench/messages/program.h"
#include "bench/replay/replay_traffic.h"
#include "harena/pb/call/reusable.h"
#include "harena/pb/codec/access.h"
#include "replay_types.h"

#ifdef HARENA_REPLAY_CODEC
constexpr bool kTypesCarryCodec = true;
#else
constexpr bool kTypesCarryCodec = false;
#endif

namespace harena::bench {
namespace {

// What the types can do, which depends on their schema and on the protobuf.
nlohmann::json Describe() {
  nlohmann::json facts = {
      {"request_codec", pb::codec::HasCodec<ReplayRequest>},
      {"response_codec", pb::codec::HasCodec<ReplayResponse>},
      {"why_not_reusable", nullptr},
      {"protobuf", google::protobuf::internal::VersionString(GOOGLE_PROTOBUF_VERSION)}};
  std::optional<std::string> reason = pb::WhyNotReusable(ReplayRequest::default_instance());
  if (!reason) reason = pb::WhyNotReusable(ReplayResponse::default_instance());
  if (reason) facts["why_not_reusable"] = *reason;
  return facts;
}

}  // namespace
}  // namespace harena::bench

int main(int argc, char** argv) {
  using namespace harena::bench;
  std::string exchanges;
  const MessageProgram program = {
      .name = "harena_replay",
      .declare =
          [&](CLI::App& app) {
            app.add_option("--exchanges", exchanges, "The file of chosen exchanges");
            app.add_flag_callback(
                "--describe",
                [] {
                  std::cout << Describe().dump() << "\n";
                  throw CLI::Success();
                },
                "Instead: say what the types can do");
          },
      .load =
          [&] {
            return MakeReplayTraffic<ReplayRequest, ReplayResponse, kTypesCarryCodec>(
                ReadExchangeFile(exchanges));
          },
      .modes = MessageModes(kTypesCarryCodec)};
  return RunMessageProgram(program, argc, argv);
}
