#pragma once

namespace harena::bench {

#ifdef __clang__
inline constexpr char kCompiler[] = __VERSION__;  // names clang by itself
#else
inline constexpr char kCompiler[] = "g++ " __VERSION__;
#endif
/// Numbers of a program that was built otherwise say nothing.
#ifdef __OPTIMIZE__
inline constexpr bool kOptimized = true;
#else
inline constexpr bool kOptimized = false;
#endif

}  // namespace harena::bench
