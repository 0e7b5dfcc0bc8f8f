// Deprecated, for this release: include "harena/pb/parse/parse.h" in its place.
#pragma once

#include "harena/pb/parse/parse.h"
