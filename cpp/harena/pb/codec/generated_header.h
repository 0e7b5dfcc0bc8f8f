// What a .pb.h with a codec includes.
#pragma once

#include "harena/pb/layout/family.h"

#if HARENA_SERIALIZER
#include "harena/pb/codec/access.h"
#endif
#if HARENA_CODEC
#include "harena/pb/codec/repeated_field.h"
#include "harena/pb/codec/string_field.h"
#include "harena/pb/layout/parse_table.h"
#endif
