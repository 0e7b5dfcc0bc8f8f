#pragma once

namespace harena {

/// Asks malloc to give its free memory back to the system: glibc's malloc_trim(). Does nothing
/// where malloc is another, which have their own ways of doing that. Takes milliseconds on a large
/// heap and holds its locks meanwhile: for idle processes. Thread rule: any thread.
void TrimHeap() noexcept;

}  // namespace harena
