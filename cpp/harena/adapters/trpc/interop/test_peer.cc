// tRPC-Cpp's half of the interop test, as a server or as a client of harena.test.echo.Echo.
//   test_peer server own|heap|arena|pages|reuse|codec   prints its port, ends with its stdin
//   test_peer client HOST:PORT                          prints how many answers were right
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <google/protobuf/util/message_differencer.h>
#include <trpc/client/make_client_context.h>
#include <trpc/client/trpc_client.h>

#include "harena/adapters/trpc/call.h"
#include "harena/adapters/trpc/services.h"
#include "harena/adapters/trpc/test_server.h"
#include "harena/adapters/trpc/use_pages.h"
#include "harena/scope/mode.h"
#include "harena/test/echo.pb.h"

namespace harena::trpc {
namespace {

using test::echo::Note;

constexpr char kSay[] = "/harena.test.echo.Echo/Say";
constexpr char kFail[] = "/harena.test.echo.Echo/Fail";

std::string Upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char one) { return std::toupper(one); });
  return text;
}

/// The note with its texts in upper case, as trpc-go's half answers too.
void Shout(const Note& in, Note* out) {
  out->set_text(Upper(in.text()));
  out->set_number(in.number());
  out->set_blob(in.blob());
  if (in.has_author()) *out->mutable_author() = in.author();
  for (const std::string& text : in.texts()) out->add_texts(Upper(text));
  for (const Note& child : in.children()) Shout(child, out->add_children());
  for (const auto& [key, label] : in.labels()) (*out->mutable_labels())[key] = Upper(label);
}

class EchoService final : public ::trpc::RpcServiceImpl {
 public:
  EchoService() {
    Add(kSay, &EchoService::Say);
    Add(kFail, &EchoService::Fail);
  }

  Status Say(ServerContextPtr, const Note* in, Note* out) {
    Shout(*in, out);
    return ::trpc::kSuccStatus;
  }
  Status Fail(ServerContextPtr, const Note* in, Note*) {
    return Status(static_cast<int>(in->number()), in->text());
  }

 private:
  void Add(const char* name, Status (EchoService::*method)(ServerContextPtr, const Note*, Note*)) {
    AddRpcServiceMethod(new ::trpc::RpcServiceMethod(
        name, ::trpc::MethodType::UNARY,
        new ::trpc::RpcMethodHandler<Note, Note>(
            [this, method](ServerContextPtr context, const Note* in, Note* out) {
              return (this->*method)(std::move(context), in, out);
            })));
  }
};

class EchoProxy : public ::trpc::RpcServiceProxy {
 public:
  static Status Invoke(const std::shared_ptr<EchoProxy>& proxy, const char* method, const Note& in,
                       Note* out) {
    const auto context = ::trpc::MakeClientContext(proxy);
    context->SetFuncName(method);
    return proxy->UnaryInvoke<Note, Note>(context, in, out);
  }
};

Note MakeNote(int children) {
  Note note;
  note.set_text("a note of some length, in lower case");
  note.set_number(-7);
  note.set_blob(std::string("\x00\x01\xff", 3));
  note.mutable_author()->set_name("somebody");
  note.mutable_author()->add_mails("somebody@example.org");
  (*note.mutable_labels())["one"] = "the label of one";
  note.add_texts("a text that is longer than a string's own room");
  for (int i = 0; i < children; ++i) {
    Note* child = note.add_children();
    child->set_text("child " + std::to_string(i));
    child->set_number(i);
  }
  return note;
}

bool Check(bool right, const std::string& what) {
  if (!right) std::fprintf(stderr, "%s\n", what.c_str());
  return right;
}

/// How many of the calls were answered as they should.
int CallAll(const std::shared_ptr<EchoProxy>& proxy) {
  using Call = ClientCall<Note, Note>;
  int right = 0;
  for (const Mode mode : {Mode::kHeap, Mode::kArena, Mode::kPages, Mode::kReuse, Mode::kCodec}) {
    CallPool<Call> calls({.mode = mode});
    for (const int children : {0, 1, 100, 5000, 3}) {
      Call call = calls.Acquire();
      const Note note = MakeNote(children);
      Note expected;
      Shout(note, &expected);
      call.request() = note;
      const Status status = EchoProxy::Invoke(proxy, kSay, call.request(), &call.response());
      right += Check(status.OK() && google::protobuf::util::MessageDifferencer::Equals(
                                        call.response(), expected),
                     std::string(ToString(mode)) + ": " + status.ToString());
    }
    Call call = calls.Acquire();
    call.request().set_number(4321);
    call.request().set_text("as it was asked for");
    const Status status = EchoProxy::Invoke(proxy, kFail, call.request(), &call.response());
    right +=
        Check(status.GetFuncRetCode() == 4321 && status.ErrorMessage() == "as it was asked for",
              "Fail: " + status.ToString());
  }
  return right;
}

int Serve(const std::string& mode_name) {
  auto echo = std::make_shared<EchoService>();
  std::optional<Services> services;
  if (mode_name == "own") {
    UsePages();
  } else {
    const auto mode = ParseMode(mode_name);
    if (!mode) return 2;
    services.emplace(ServicesOptions{.defaults = {.mode = *mode}});
    services->Serve(*echo, kSay, &EchoService::Say);
    services->Serve(*echo, kFail, &EchoService::Fail);
  }
  const TestServer server({{.name = "echo", .service = echo}});
  std::fprintf(stderr, "%d\n", server.port("echo"));
  for (char ignored[64]; read(STDIN_FILENO, ignored, sizeof ignored) > 0;) {
  }
  return 0;
}

int Call(const std::string& address) {
  const TestServer runtime({});
  int right = 0;
  Inside([&] {
    ::trpc::ServiceProxyOption option;
    option.name = "echo";
    option.target = address;
    option.selector_name = "direct";
    option.timeout = 60'000;
    right = CallAll(::trpc::GetTrpcClient()->GetProxy<EchoProxy>(option.name, option));
  });
  std::fprintf(stderr, "%d answered\n", right);
  return 0;
}

int Run(const std::string& what, const std::string& of) {
  if (what == "server") return Serve(of);
  if (what == "client") return Call(of);
  return 2;
}

}  // namespace
}  // namespace harena::trpc

int main(int argc, char** argv) {
  const int code = argc == 3 ? harena::trpc::Run(argv[1], argv[2]) : 2;
  if (code == 2) std::fprintf(stderr, "usage: %s server MODE | client HOST:PORT\n", argv[0]);
  return code;
}
