#pragma once

namespace harena::bench {

/// How a server process of a measurement ends: when its standard input closes, so that it cannot
/// outlive the program that started it, or on SIGTERM or SIGINT.
/// Make it before any thread starts: those inherit the blocked signals.
class ServerLife {
 public:
  ServerLife();
  ~ServerLife();
  ServerLife(const ServerLife&) = delete;
  ServerLife& operator=(const ServerLife&) = delete;

  /// Blocks until the end.
  void WaitForEnd() const;

 private:
  const int signal_file_;
};

}  // namespace harena::bench
