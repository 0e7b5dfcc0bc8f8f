// Deprecated, for this release: include "harena/pb/capture/capture.h" in its place.
#pragma once

#include "harena/pb/capture/capture.h"
