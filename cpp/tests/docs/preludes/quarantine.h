#include "harena/mem/fault_reporter.h"
#include "harena/pb/self_check.h"
#include "harena/scope/options.h"
