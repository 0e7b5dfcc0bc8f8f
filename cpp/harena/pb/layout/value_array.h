// protobuf's repeated fields of numbers from the inside. A file for each family has HasArray() and
// SetArray().
#pragma once

#include "harena/pb/layout/value_array_29.h"
#include "harena/pb/layout/value_array_36.h"
#include "harena/pb/layout/value_array_3_21.h"
#include "harena/pb/layout/value_array_bytes.h"
