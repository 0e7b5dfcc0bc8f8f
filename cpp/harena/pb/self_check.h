// Deprecated, for this release: include "harena/pb/admin/start_check.h" in its place.
#pragma once

#include "harena/pb/admin/start_check.h"
