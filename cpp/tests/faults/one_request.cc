#include "tests/faults/one_request.h"

#include <memory_resource>
#include <new>
#include <vector>

#include "harena/pb/arena/budget_frame.h"
#include "harena/pb/arena/message.h"
#include "harena/pb/parse/parse.h"
#include "harena/test/shapes.pb.h"

namespace harena::faults {
namespace {

using harena::test::Shapes;

constexpr size_t kAnswerBytesMax = size_t{1} << 20;

// Keeps nothing of its own from one call to the next, so that no allocation hides there.
char* AnswerPlace() {
  static char place[kAnswerBytesMax];
  return place;
}

void Handle(const Shapes& request, Shapes* response) {
  *response = request;
  response->set_text("answered: " + request.text());
  (*response->mutable_counts())["a key that no short string holds"] = request.leaves_size();
}

Outcome Answer(const Shapes& request, const Shapes& response) {
  const size_t bytes = response.ByteSizeLong();
  if (bytes > kAnswerBytesMax) return Outcome::kWrong;
  if (!response.SerializeToArray(AnswerPlace(), static_cast<int>(bytes))) return Outcome::kWrong;
  const bool right = response.leaves_size() == request.leaves_size() &&
                     response.counts().size() == request.counts().size() + 1 &&
                     response.text().size() == request.text().size() + 10;
  return right ? Outcome::kServed : Outcome::kWrong;
}

Outcome Refused(const pb::ParseResult& result) {
  return result.status == pb::ParseStatus::kRefused ? Outcome::kRefused : Outcome::kWrong;
}

// What a handler puts on the scope besides messages.
void UseScope(Scope& scope, const Shapes& request) {
  std::pmr::vector<int64_t> numbers(scope.resource());
  for (const auto& leaf : request.leaves()) numbers.push_back(leaf.weight());
  scope.Create<std::string>("a string on the scope, with its body on the heap");
}

Options OptionsFor(PagePool& pool, Mode mode, size_t request_bytes_max, size_t quarantine_one_in) {
  Options options{.mode = mode, .quarantine_one_in = quarantine_one_in, .page_pool = &pool};
  // The heap knows no limits.
  if (mode != Mode::kHeap) options.request_bytes_max = request_bytes_max;
  return options;
}

}  // namespace

Echo::Echo(PagePool& pool, Mode mode, size_t request_bytes_max, size_t quarantine_one_in)
    : mode_(mode),
      scopes_(OptionsFor(pool, mode, request_bytes_max, quarantine_one_in)),
      keeper_(Shapes::default_instance(), Shapes::default_instance(),
              OptionsFor(pool, mode, request_bytes_max, quarantine_one_in)) {}

Outcome Echo::Serve(std::string_view wire) {
  try {
    return mode_ == Mode::kHeap ? ServeOnHeap(wire) : ServeOrThrow(wire);
  } catch (const std::bad_alloc&) {
    return Outcome::kRefused;
  }
}

Outcome Echo::ServeOnHeap(std::string_view wire) {
  Shapes request;
  Shapes response;
  if (!request.ParseFromArray(wire.data(), static_cast<int>(wire.size()))) return Outcome::kWrong;
  Handle(request, &response);
  return Answer(request, response);
}

Outcome Echo::ServeOrThrow(std::string_view wire) {
  std::optional<Scope> scope = scopes_.TryAcquire();
  if (!scope) return Outcome::kRefused;
  const Shapes* request = nullptr;
  Shapes* response = nullptr;
  if (mode_ == Mode::kReuse) {
    const pb::MessageKeeper::Pair pair = keeper_.Take(*scope);
    const pb::ParseResult result = pb::Parse(*scope, wire, *static_cast<Shapes*>(pair.request));
    if (!result) return Refused(result);
    request = static_cast<const Shapes*>(pair.request);
    response = static_cast<Shapes*>(pair.response);
  } else {
    const pb::Frozen<Shapes> parsed = pb::ParseFrozen<Shapes>(*scope, wire);
    if (!parsed) return Refused(parsed.result);
    request = parsed.message;
    response = scope->CreateMessage<Shapes>();
  }
  UseScope(*scope, *request);
  pb::BudgetFrame frame(scope->budget());
  Handle(*request, response);
  return Answer(*request, *response);
}

std::string ShapesWire(int leaves) {
  const std::string long_text = "a text that is too long to be held inside of a string object";
  Shapes shapes;
  shapes.set_text(long_text);
  shapes.set_blob(std::string(200, 'b'));
  shapes.set_maybe_text(long_text);
  shapes.mutable_leaf()->set_name(long_text);
  shapes.set_choice_text(long_text);
  for (int i = 0; i < leaves; ++i) {
    shapes.add_leaves()->set_name(long_text);
    shapes.add_texts(long_text);
    shapes.add_packed(i);
    shapes.add_unpacked(i);
    (*shapes.mutable_counts())[long_text + std::to_string(i)] = i;
    (*shapes.mutable_leaf_by_number())[i].set_name(long_text);
    (*shapes.mutable_numbers())[i] = i;
  }
  Shapes* child = shapes.add_children();
  child->set_text(long_text);
  child->add_leaves()->set_name("short");
  return shapes.SerializeAsString();
}

}  // namespace harena::faults
