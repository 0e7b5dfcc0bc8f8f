#include <chrono>
#include <iostream>

#include "harena/adapters/grpc/server.h"

extern harena::grpc::Server& server;
