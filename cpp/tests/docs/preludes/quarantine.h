#include "harena/guard/fault_reporter.h"
#include "harena/guard/hardening.h"
#include "harena/pb/admin/start_check.h"
#include "harena/scope/options.h"
