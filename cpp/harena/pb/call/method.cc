#include "harena/pb/call/method.h"

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include "harena/base/log.h"

namespace harena::pb {
namespace {

// Where refused_ counts it.
size_t IndexOf(const Refusal& refusal) noexcept {
  constexpr std::array<std::string_view, 4> kLimits = {kRequestBytesMax, kProcessBytesMax,
                                                       kDecodedRatioMax, kDepthMax};
  return static_cast<size_t>(std::find(kLimits.begin(), kLimits.end(), refusal.limit) -
                             kLimits.begin());
}

// The limits that `options` set on a request's parse.
std::vector<const char*> LimitsOf(const Options& options) {
  std::vector<const char*> limits;
  if (options.request_bytes_max != kUnlimitedBytes) limits.push_back(kRequestBytesMax);
  if (options.depth_max != 0) limits.push_back(kDepthMax);
  if (options.decode_limits().has_ratio()) limits.push_back(kDecodedRatioMax);
  return limits;
}

}  // namespace

std::optional<std::string> WhyNotParsedBy(std::string_view framework, const Options& options) {
  if (auto problem = options.Validate()) return problem;
  const std::vector<const char*> limits = LimitsOf(options);
  if (options.mode != Mode::kReuse || limits.empty()) return std::nullopt;
  return std::string("mode reuse cannot hold ") + limits.front() + " under " +
         std::string(framework) +
         ", which parses kept messages in frames of its own; choose codec, pages or arena, or "
         "leave " +
         limits.front() + " out";
}

Method::Method(std::string name, const Options& options,
               const google::protobuf::MessageLite& request_prototype,
               const google::protobuf::MessageLite& response_prototype, MessageTypes types)
    : name_(std::move(name)),
      request_(request_prototype),
      response_(response_prototype),
      types_(std::move(types)),
      scopes_(options, MessagesMayThrow::kYes, name_),
      keeper_(request_prototype, response_prototype, options) {
  SayIfNotReusable(options.mode);
}

std::optional<std::string> Method::Change(const std::function<void(Options&)>& edit) {
  const Mode before = scopes_.mode();
  if (auto problem = scopes_.Change(edit)) return name_ + ": " + *problem;
  const Mode mode = scopes_.mode();
  if (mode == before) return std::nullopt;
  SayIfNotReusable(mode);
  // What another mode kept is of no use to this one.
  if (mode != Mode::kReuse) keeper_.Trim();
  return std::nullopt;
}

void Method::SayIfNotReusable(Mode mode) const {
  if (mode != Mode::kReuse || !types_.why_not_reusable) return;
  Log(Severity::kWarning, name_ + ": mode reuse is served as pages: " + *types_.why_not_reusable);
}

void Method::SayWhatIsServedOtherwise(std::string_view framework) const {
  const Options options = scopes_.options();
  if (options.mode == Mode::kCodec && !types_.codec) {
    Log(Severity::kInfo,
        name_ + ": mode codec is served as pages: its messages were generated without the codec");
  }
  if (types_.request_codec) return;
  const std::string why =
      " does not hold while its requests are parsed: " + std::string(request_.GetTypeName()) +
      " was generated without the codec, and " + std::string(framework) + " parses it";
  for (const char* const limit : LimitsOf(options)) {
    Log(Severity::kWarning, name_ + ": " + limit + why);
  }
}

Mode Method::ServedAs(Mode mode) const noexcept {
  const bool can =
      (mode != Mode::kReuse || !types_.why_not_reusable) && (mode != Mode::kCodec || types_.codec);
  return can ? mode : Mode::kPages;
}

HARENA_NOINLINE void Method::CountFallback(Mode mode) noexcept {
  (mode == Mode::kReuse ? not_reusable_ : no_codec_).fetch_add(1, std::memory_order_relaxed);
}

std::string Method::Refuse(const Refusal& refusal) noexcept {
  refused_[IndexOf(refusal)].fetch_add(1, std::memory_order_relaxed);
  try {
    return "harena: " + name_ + ": " + refusal.Message();
  } catch (const std::bad_alloc&) {
    return kOutOfMemory;
  }
}

RefusalCounts Method::refused_by() const noexcept {
  const auto count = [&](size_t i) { return refused_[i].load(std::memory_order_relaxed); };
  return {.request_bytes_max = count(0),
          .process_bytes_max = count(1),
          .decoded_ratio_max = count(2),
          .depth_max = count(3),
          .memory = count(4)};
}

MethodStats Method::stats() const {
  const Mode mode = scopes_.mode();
  const RefusalCounts by = refused_by();
  return {
      .name = name_,
      .mode = mode,
      .served = ServedAs(mode),
      .requests = requests(),
      .malformed = malformed_.load(std::memory_order_relaxed),
      .refused = by.total(),
      .refused_by = by,
      .fallbacks = {.no_codec = no_codec_.load(std::memory_order_relaxed),
                    .not_reusable = not_reusable_.load(std::memory_order_relaxed),
                    .no_scope = no_scope_.load(std::memory_order_relaxed)},
      .scopes = scopes_.stats(),
      .kept = keeper_.stats(),
  };
}

}  // namespace harena::pb
