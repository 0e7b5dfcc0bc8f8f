// Deprecated, for this release: include "harena/pb/codec/registered.h" in its place.
#pragma once

#include "harena/pb/codec/registered.h"
