// Deprecated, for this release: include "harena/pb/arena/message_arena.h" in its place.
#pragma once

#include "harena/pb/arena/message_arena.h"
