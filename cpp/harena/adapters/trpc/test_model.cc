// Which of tRPC's thread models a test program runs in.
#include "harena/adapters/trpc/test_server.h"

namespace harena::trpc {

const char* const kTestModel = HARENA_TRPC_TEST_MODEL;

}  // namespace harena::trpc
