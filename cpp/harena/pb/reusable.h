// Deprecated, for this release: include "harena/pb/call/reusable.h" in its place.
#pragma once

#include "harena/pb/call/reusable.h"
