#include <google/protobuf/struct.pb.h>

#include "harena/pb/arena/block_hooks.h"
#include "harena/pb/layout/names.h"
