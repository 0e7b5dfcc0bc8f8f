#include <map>
#include <memory>
#include <memory_resource>
#include <thread>
#include <vector>

#include <google/protobuf/struct.pb.h>

#include "harena/pb/arena/message.h"
#include "harena/scope/scope.h"

inline void Use(const google::protobuf::Struct&) {}
