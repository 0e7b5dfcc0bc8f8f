#include <iostream>

#include "harena/live/listener.h"
