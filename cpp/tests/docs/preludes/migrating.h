#include <google/protobuf/struct.pb.h>

#include "harena/pb/block_hooks.h"
#include "harena/pb/compat.h"
