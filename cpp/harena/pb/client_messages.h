// Deprecated, for this release: include "harena/pb/call/client_messages.h" in its place.
#pragma once

#include "harena/pb/call/client_messages.h"
