// protobuf's repeated fields of pointers from the inside. A file for each family has StringsOf(),
// HasCleared(), HasArray(), ArrayBytes(), SetArray() and Append().
#pragma once

#include "harena/pb/layout/pointer_array_3_21.h"
#include "harena/pb/layout/pointer_array_tagged.h"
