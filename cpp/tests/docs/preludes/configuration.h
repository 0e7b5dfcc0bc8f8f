#include <iostream>
#include <string>
#include <vector>

#include "harena/adapters/grpc/server.h"
#include "harena/bench/v1/demo.harena.grpc.h"
#include "harena/config/watcher.h"

extern harena::bench::v1::DemoService::CallbackService& service;
extern std::string path;
extern std::vector<std::string> flags;
