#include "bench/messages/small_traffic.h"

#include <algorithm>
#include <random>
#include <utility>

#include "bench/messages/bounded_traffic.h"
#include "harena/bench/v1/session.pb.h"
#include "harena/bench/v1/session2.pb.h"

namespace harena::bench {
namespace {

constexpr std::string_view kProto2 = "small_proto2";
constexpr std::string_view kProto3 = "small_proto3";
constexpr size_t kMessageBytes = 228;
constexpr int kVariants = 16;
constexpr uint64_t kSeed = 20241120;

// Sends the request back, so that nothing but the messages themselves costs anything.
template <typename Message>
struct SendBack {
  using Request = Message;
  using Response = v1::SessionAck;
  static constexpr bool kAnswersWithTheRequest = true;
  void Handle(size_t /*number*/, const Request& /*request*/, Response* /*response*/) const {}
};

std::string RandomText(std::mt19937_64& random, size_t bytes) {
  std::string text(bytes, '\0');
  std::generate(text.begin(), text.end(),
                [&] { return static_cast<char>('a' + static_cast<int>(random() % 26)); });
  return text;
}

template <typename Message>
std::string MakeWire(std::mt19937_64& random) {
  constexpr int64_t kMillisMin = 1'700'000'000'000;
  Message session;
  session.set_user(RandomText(random, 8 + random() % 16));
  session.set_locale("en-GB");
  session.set_id(random());
  session.set_opened_ms(kMillisMin + static_cast<int64_t>(random() % 1'000'000'000));
  session.set_expires_ms(session.opened_ms() + 3'600'000);
  session.set_shard(static_cast<int>(random() % 500));
  session.set_admin(true);
  session.set_trial(true);
  session.set_risk(static_cast<double>(random() % 1000) / 1000);
  session.set_state(Message::STATE_OPEN);
  session.mutable_client()->set_address("2001:db8::8a2e:370:7334");
  session.mutable_client()->set_port(static_cast<uint32_t>(1024 + random() % 60'000));
  session.mutable_client()->set_agent(RandomText(random, 10 + random() % 20));
  for (uint64_t groups = 1 + random() % 3; groups != 0; --groups) session.add_groups(random());
  session.set_region("eu-west-1");
  session.set_requests(static_cast<uint32_t>(1 + random() % 100'000));
  // Two bytes are the token's tag and length.
  session.set_token(RandomText(random, kMessageBytes - session.ByteSizeLong() - 2));
  return session.SerializeAsString();
}

template <typename Message>
std::unique_ptr<Traffic> Make(std::string_view name) {
  std::mt19937_64 random(kSeed);
  std::vector<std::string> requests(kVariants);
  std::generate(requests.begin(), requests.end(), [&] { return MakeWire<Message>(random); });
  return std::make_unique<BoundedTraffic<SendBack<Message>>>(std::string(name), std::move(requests),
                                                             SendBack<Message>{});
}

}  // namespace

std::vector<std::string> SmallNames() { return {std::string(kProto2), std::string(kProto3)}; }

std::unique_ptr<Traffic> MakeSmallTraffic(std::string_view name) {
  if (name == kProto2) return Make<v1::SessionProto2>(name);
  if (name == kProto3) return Make<v1::Session>(name);
  return nullptr;
}

}  // namespace harena::bench
