// Deprecated, for this release: include "harena/pb/call/message_keeper.h" in its place.
#pragma once

#include "harena/pb/call/message_keeper.h"
