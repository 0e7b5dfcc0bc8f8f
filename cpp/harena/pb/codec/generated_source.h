// What a .pb.cc with a codec includes.
#pragma once

#include "harena/pb/layout/family.h"

#if HARENA_SERIALIZER
#include <bit>

#include <google/protobuf/wire_format.h>

#include "harena/pb/codec/registered.h"
#include "harena/pb/codec/serialize.h"
#include "harena/pb/codec/write.h"
#include "harena/pb/codec/write_map.h"
#endif
#if HARENA_CODEC
#include "harena/pb/codec/delete_check.h"
#include "harena/pb/codec/framework_parse.h"
#include "harena/pb/codec/read.h"
#include "harena/pb/codec/read_map.h"
#endif
