// Whose allocation it is, in a process where a framework and Harena allocate on the same threads.
#pragma once

namespace harena::faults {

/// Whether the code that allocates is Harena's or a handler's of the test, and not the framework's
/// or the system's: the first function above the allocation that is neither a library's nor a
/// template of the standard library or of protobuf. A Counts of failing_alloc.h.
/// REQUIRES: the program exports its symbols (CMake: ENABLE_EXPORTS).
/// Thread rule: any thread.
bool IsOwnAllocation(void* const* frames, int frame_count);

}  // namespace harena::faults
