// Flags and variables, as operators see them on brpc's own pages.
#include <string>

#include <bvar/bvar.h>
#include <gflags/gflags.h>
#include <gmock/gmock.h>

#include "harena/adapters/brpc/test_rig.h"
#include "harena/base/log.h"

DECLARE_string(harena_mode);
DECLARE_uint64(harena_request_bytes_max);

namespace harena::brpc {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Console : public ::testing::Test {
 protected:
  Console() {
    SetLogSink([](Severity, std::string_view) {});
  }
  ~Console() override {
    rig_.Stop();
    EXPECT_TRUE(Set("harena_mode", ""));
    EXPECT_TRUE(Set("harena_request_bytes_max", "0"));
    EXPECT_TRUE(Set("harena_process_bytes_max", "0"));
    EXPECT_TRUE(Set("harena_reuse_instances_max", "0"));
    SetLogSink(nullptr);
  }

  static bool Set(const char* flag, const std::string& value) {
    return !gflags::SetCommandLineOption(flag, value.c_str()).empty();
  }
  std::string SetOnPage(const std::string& flag, const std::string& value) {
    return rig_.Http("/flags/" + flag + "?setvalue=" + value);
  }
  std::string Var(const std::string& name) { return rig_.Http("/vars/" + name + "?console=1"); }

  Rig rig_;
};

TEST_F(Console, TheModeChangesOnTheFlagsPage) {
  rig_.Start(Mode::kPages);
  EXPECT_EQ(rig_.Run(MakeTask()), 0);
  for (const Mode mode : kModes) {
    EXPECT_THAT(SetOnPage("harena_mode", std::string(ToString(mode))),
                HasSubstr("Set `harena_mode'"));
    EXPECT_EQ(rig_.stats().mode, mode);
    EXPECT_EQ(rig_.Run(MakeTask()), 0);
  }
  EXPECT_THAT(rig_.Http("/flags/harena_mode"), HasSubstr("codec"));
}

TEST_F(Console, WhatCannotBeIsRefusedThere) {
  rig_.Start(Mode::kPages);
  EXPECT_EQ(rig_.Run(MakeTask()), 0);
  EXPECT_THAT(SetOnPage("harena_mode", "heapp"), Not(HasSubstr("Set `")));
  EXPECT_EQ(FLAGS_harena_mode, "");
  EXPECT_THAT(SetOnPage("harena_request_bytes_max", "5"), Not(HasSubstr("Set `")));
  EXPECT_THAT(SetOnPage("harena_request_bytes_max", "4194304"), HasSubstr("Set `"));
  EXPECT_EQ(rig_.factory().SetMode(Mode::kHeap) != std::nullopt, true) << "there is a limit now";
  EXPECT_THAT(SetOnPage("harena_mode", "heap"), Not(HasSubstr("Set `")));
  EXPECT_THAT(SetOnPage("harena_mode", "reuse"), Not(HasSubstr("Set `")));
  EXPECT_EQ(rig_.stats().mode, Mode::kPages);
  EXPECT_EQ(FLAGS_harena_request_bytes_max, 4194304u);
}

TEST_F(Console, FlagsWinOverTheProgram) {
  ASSERT_TRUE(Set("harena_mode", "arena"));
  rig_.Start(Mode::kPages);
  EXPECT_EQ(rig_.Run(MakeTask()), 0);
  EXPECT_EQ(rig_.stats().mode, Mode::kArena);
  // Unset, nothing changes until somebody says something else.
  ASSERT_TRUE(Set("harena_mode", ""));
  EXPECT_EQ(rig_.stats().mode, Mode::kArena);
}

TEST_F(Console, AFactoryMayBeDeaf) {
  ASSERT_TRUE(Set("harena_mode", "arena"));
  rig_.Start(FactoryOptions{.defaults = {.mode = Mode::kPages}, .follow_flags = false});
  EXPECT_EQ(rig_.Run(MakeTask()), 0);
  ASSERT_TRUE(Set("harena_mode", "heap"));
  EXPECT_EQ(rig_.stats().mode, Mode::kPages);
}

TEST_F(Console, TheProcessLimit) {
  rig_.Start(Mode::kPages);
  EXPECT_THAT(SetOnPage("harena_process_bytes_max", "1073741824"), HasSubstr("Set `"));
  EXPECT_EQ(ProcessBudget().bytes_max(), size_t{1} << 30);
  EXPECT_THAT(SetOnPage("harena_process_bytes_max", "0"), HasSubstr("Set `"));
  EXPECT_EQ(ProcessBudget().bytes_max(), kUnlimitedBytes);
}

TEST_F(Console, KeptInstances) {
  ASSERT_TRUE(Set("harena_reuse_instances_max", "1"));
  rig_.Start(Mode::kReuse);
  EXPECT_EQ(rig_.Run(MakeTask()), 0);
  EXPECT_TRUE(Eventually([&] { return rig_.stats().kept.instances_idle == 1; }));
}

// Each test is a process of its own under ctest; in one process the pool is made once.
TEST_F(Console, ThePoolsFlags) {
  EXPECT_FALSE(Set("harena_page_bytes", "5000"));
  if (!Set("harena_page_bytes", "131072")) GTEST_SKIP() << "a server has started in this process";
  auto* factory = new MessageFactory;
  EXPECT_FALSE(Set("harena_page_bytes", "65536")) << "fixed now";
  EXPECT_FALSE(Set("harena_retained_bytes_max", "1000000"));
  ::brpc::ServerOptions options;
  options.rpc_pb_message_factory = factory;
  HookedService service;
  ::brpc::Server server;
  ASSERT_EQ(server.AddService(&service, ::brpc::SERVER_DOESNT_OWN_SERVICE), 0);
  ASSERT_EQ(server.Start("127.0.0.1:0", &options), 0);
  size_t page_bytes = 0;
  service.on_run = [&](Controller*, const Task* task, Result*, Closure* done) {
    page_bytes = PagePool::OwnerOf(&task->items(0))->options().page_bytes;
    done->Run();
  };
  ::brpc::Channel channel;
  ASSERT_EQ(channel.Init(server.listen_address(), nullptr), 0);
  test::brpc::Work::Stub stub(&channel);
  const Task task = MakeTask();
  Controller controller;
  Result result;
  stub.Run(&controller, &task, &result, nullptr);
  EXPECT_FALSE(controller.Failed()) << controller.ErrorText();
  EXPECT_EQ(page_bytes, 131072u);
}

TEST_F(Console, VariablesOfAMethod) {
  rig_.Start(Mode::kReuse);
  EXPECT_EQ(Var("harena_harena_test_brpc_work_run_requests").find(": 3"), std::string::npos);
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(rig_.Run(MakeTask()), 0);
    EXPECT_TRUE(Eventually([&] { return rig_.stats().kept.instances_idle == 1; }));
  }
  const std::string all = Var("harena_*");
  for (const char* line :
       {"harena_harena_test_brpc_work_run_requests : 3",
        "harena_harena_test_brpc_work_run_mode : \"reuse\"",
        "harena_harena_test_brpc_work_run_served : \"reuse\"",
        "harena_harena_test_brpc_work_run_reuse_built : 1",
        "harena_harena_test_brpc_work_run_reuse_idle : 1",
        "harena_harena_test_brpc_work_run_scopes_made : 3",
        "harena_harena_test_brpc_work_run_scopes_live : 0",
        "harena_harena_test_brpc_work_run_refused : 0", "harena_pages_page_bytes : 65536",
        "harena_pages_blocks_moved : ", "harena_pages_bytes_huge_advised : ",
        "harena_process_bytes_used : ", "harena_process_unframed_overruns : 0"}) {
    EXPECT_THAT(all, HasSubstr(line));
  }
  EXPECT_THAT(all, Not(HasSubstr("harena_harena_test_brpc_work_run_bytes_p90 : 0")));
  rig_.Stop();
  EXPECT_EQ(bvar::Variable::describe_exposed("harena_harena_test_brpc_work_run_requests"), "");
}

TEST_F(Console, TwoServersWithTheSameMethod) {
  rig_.Start(Mode::kPages);
  Rig second;
  second.Start(Mode::kArena);
  EXPECT_EQ(rig_.Run(MakeTask()), 0);
  EXPECT_EQ(second.Run(MakeTask()), 0);
  EXPECT_EQ(second.Run(MakeTask()), 0);
  EXPECT_THAT(Var("harena_*"), AllOf(HasSubstr("harena_harena_test_brpc_work_run_requests : 1"),
                                     HasSubstr("harena_harena_test_brpc_work_run_2_requests : 2")));
}

}  // namespace
}  // namespace harena::brpc
