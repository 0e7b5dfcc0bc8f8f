#pragma once

#include <chrono>

namespace harena::bench {

/// Nanoseconds that one request spent in each phase of its message memory.
struct Phases {
  double parse = 0;      ///< Making both messages and parsing the request.
  double build = 0;      ///< The handler: reading the request, building the response.
  double serialize = 0;  ///< ByteSizeLong() and writing into a buffer that is there already.
  double destroy = 0;    ///< Ending both messages.

  double total() const { return parse + build + serialize + destroy; }
  Phases& operator+=(const Phases& other) {
    parse += other.parse;
    build += other.build;
    serialize += other.serialize;
    destroy += other.destroy;
    return *this;
  }
  Phases operator/(double count) const {
    return {parse / count, build / count, serialize / count, destroy / count};
  }
};

/// Reads the time between phases; one reading costs about 25 ns.
class Stopwatch {
 public:
  /// Nanoseconds since the last call or the start.
  double Lap() {
    const auto now = std::chrono::steady_clock::now();
    const double lap = std::chrono::duration<double, std::nano>(now - last_).count();
    last_ = now;
    return lap;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace harena::bench
