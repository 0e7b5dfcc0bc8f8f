// Every protocol that asks the factory, in every mode, against brpc's own clients.
#include <string>

#include <brpc/policy/gzip_compress.h>
#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/message_differencer.h>

#include "harena/adapters/brpc/test_rig.h"

namespace harena::brpc {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class Protocols : public ModeTest {
 protected:
  void SetUp() override { rig_.Start(GetParam()); }
  void TearDown() override { rig_.ExpectAllMemoryBack(); }

  // Calls with controllers as `tweak` makes them, more than once: reuse starts with the second.
  template <typename Tweak, typename Look>
  void Call(const std::string& protocol, Tweak tweak, Look look) {
    const auto channel = rig_.Connect(protocol);
    test::brpc::Work::Stub stub(channel.get());
    for (int items : {20, 0, 300, 5}) {
      const Task task = MakeTask(items);
      Controller controller;
      tweak(controller);
      Result result;
      stub.Run(&controller, &task, &result, nullptr);
      ASSERT_FALSE(controller.Failed()) << controller.ErrorText();
      EXPECT_TRUE(Same(result, Expected(task)));
      look(controller);
    }
    EXPECT_EQ(rig_.stats().requests, 4u);
    EXPECT_EQ(rig_.stats().scopes.scopes_made, 4u);
    EXPECT_EQ(rig_.stats().served, GetParam());
  }
  void Call(const std::string& protocol) {
    Call(
        protocol, [](Controller&) {}, [](Controller&) {});
  }

  static bool Same(const Result& a, const Result& b) {
    return google::protobuf::util::MessageDifferencer::Equals(a, b);
  }

  Rig rig_;
};

INSTANTIATE_TEST_SUITE_P(Modes, Protocols, ::testing::ValuesIn(kModes), ModeName);

TEST_P(Protocols, BaiduStd) { Call("baidu_std"); }
TEST_P(Protocols, GrpcOverH2) { Call("h2:grpc"); }
TEST_P(Protocols, ProtobufOverH2) {
  Call(
      "h2:proto", [](Controller&) {}, [](Controller&) {});
}
TEST_P(Protocols, JsonOverHttp) { Call("http"); }
TEST_P(Protocols, ProtobufOverHttp) { Call("http:proto"); }

TEST_P(Protocols, CompressedBothWays) {
  rig_.service.on_run = [](Controller* controller, const Task* task, Result* result,
                           Closure* done) {
    controller->set_response_compress_type(::brpc::COMPRESS_TYPE_ZLIB);
    Answer(*task, result);
    done->Run();
  };
  Call(
      "baidu_std",
      [](Controller& controller) {
        controller.set_request_compress_type(::brpc::COMPRESS_TYPE_SNAPPY);
      },
      [](Controller& controller) {
        EXPECT_EQ(controller.response_compress_type(), ::brpc::COMPRESS_TYPE_ZLIB);
      });
}

TEST_P(Protocols, GzippedRequest) {
  Call(
      "baidu_std",
      [](Controller& controller) {
        controller.set_request_compress_type(::brpc::COMPRESS_TYPE_GZIP);
      },
      [](Controller&) {});
}

TEST_P(Protocols, GzippedGrpc) {
  Call(
      "h2:grpc",
      [](Controller& controller) {
        controller.set_request_compress_type(::brpc::COMPRESS_TYPE_GZIP);
      },
      [](Controller&) {});
}

TEST_P(Protocols, Attachments) {
  rig_.service.on_run = [](Controller* controller, const Task* task, Result* result,
                           Closure* done) {
    Answer(*task, result);
    controller->response_attachment().append("beside: ");
    controller->response_attachment().append(controller->request_attachment());
    done->Run();
  };
  const std::string large(200'000, 'a');
  Call(
      "baidu_std", [&](Controller& controller) { controller.request_attachment().append(large); },
      [&](Controller& controller) {
        EXPECT_EQ(controller.response_attachment().to_string(), "beside: " + large);
      });
}

TEST_P(Protocols, JsonAndTextAsBaiduStdContent) {
  for (const auto type : {::brpc::CONTENT_TYPE_JSON, ::brpc::CONTENT_TYPE_PROTO_JSON,
                          ::brpc::CONTENT_TYPE_PROTO_TEXT}) {
    const auto channel = rig_.Connect();
    test::brpc::Work::Stub stub(channel.get());
    Task task = MakeTask();
    Controller controller;
    controller.set_request_content_type(type);
    Result result;
    stub.Run(&controller, &task, &result, nullptr);
    ASSERT_FALSE(controller.Failed()) << controller.ErrorText();
    EXPECT_TRUE(Same(result, Expected(task))) << type;
  }
}

// A body that somebody wrote by hand, and what is wrong with some.
TEST_P(Protocols, HandWrittenJson) {
  const std::string path = "/harena.test.brpc.Work/Run";
  EXPECT_EQ(rig_.Http(path, R"({"text": "a text that is rather longer than short", "number": 1})"),
            R"({"text":"re: a text that is rather longer than short","number":2})");
  EXPECT_THAT(rig_.Http(path, R"({"text": "cut)"), StartsWith("400:"));
  EXPECT_THAT(rig_.Http(path, "\x0a\x7f", "application/proto"),
              HasSubstr("Fail to parse http body as harena.test.brpc.Task"));
  // Seen where the parser is ours; what JSON's parser refuses never is.
  const bool ours = GetParam() != Mode::kHeap && GetParam() != Mode::kReuse;
  rig_.ExpectAllMemoryBack();
  EXPECT_EQ(rig_.stats().malformed, ours ? 1u : 0u);
  // A request without a body is an empty message.
  EXPECT_THAT(rig_.Http(path), HasSubstr(R"("text":"re: ")"));
}

TEST_P(Protocols, RequiredFields) {
  const auto channel = rig_.Connect();
  test::brpc::Plain::Stub stub(channel.get());
  Form form;
  form.set_name("a name that is longer than a short string");
  Form answer;
  Controller controller;
  stub.Check(&controller, &form, &answer, nullptr);
  EXPECT_FALSE(controller.Failed()) << controller.ErrorText();
  EXPECT_EQ(answer.name(), form.name());
  EXPECT_THAT(rig_.Http("/harena.test.brpc.Plain/Check", "{}"), HasSubstr("name"));
}

// These make their messages themselves: served as without Harena.
TEST_P(Protocols, OthersDoNotAskTheFactory) {
  rig_.service.on_run = [](Controller*, const Task* task, Result* result, Closure* done) {
    EXPECT_EQ(FindScope(*result), nullptr);
    EXPECT_EQ(task->GetArena(), nullptr);
    Answer(*task, result);
    done->Run();
  };
  for (const char* protocol : {"hulu_pbrpc", "sofa_pbrpc"}) {
    const auto channel = rig_.Connect(protocol);
    test::brpc::Work::Stub stub(channel.get());
    const Task task = MakeTask();
    Controller controller;
    Result result;
    stub.Run(&controller, &task, &result, nullptr);
    ASSERT_FALSE(controller.Failed()) << controller.ErrorText();
    EXPECT_TRUE(Same(result, Expected(task)));
  }
  EXPECT_TRUE(rig_.factory().stats().empty());
}

// The console is brpc's own: it has no method here, and takes none of our memory.
TEST_P(Protocols, BuiltinServicesAreLeftAlone) {
  EXPECT_THAT(rig_.Http("/status"), HasSubstr("harena.test.brpc.Work"));
  EXPECT_THAT(rig_.Http("/health"), HasSubstr("OK"));
  EXPECT_TRUE(rig_.factory().stats().empty());
}

}  // namespace
}  // namespace harena::brpc
