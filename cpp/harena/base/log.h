// The few sentences Harena says on its own (a mode served as another, a limit that cannot be held)
// go to one sink that the application may replace.
#pragma once

#include <string_view>

namespace harena {

enum class Severity { kInfo, kWarning };

/// Receives one complete sentence without a line end. May be called from any thread at once.
using LogSink = void (*)(Severity severity, std::string_view sentence);

/// Replaces the sink; nullptr restores the default, which writes `harena: SENTENCE` to standard
/// error. Thread rule: any thread. Lifetime rule: `sink` is called until it is replaced.
void SetLogSink(LogSink sink) noexcept;

/// Says `sentence` through the current sink.
void Log(Severity severity, std::string_view sentence);

}  // namespace harena
