// What the compiler is asked for, under one spelling. No declarations of our own.
#pragma once

#define HARENA_LIKELY(condition) __builtin_expect(static_cast<bool>(condition), 1)
#define HARENA_UNLIKELY(condition) __builtin_expect(static_cast<bool>(condition), 0)
#define HARENA_INLINE inline __attribute__((always_inline))
#define HARENA_NOINLINE __attribute__((noinline))

#if defined(__SANITIZE_ADDRESS__)
#define HARENA_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HARENA_ASAN 1
#endif
#endif
#ifndef HARENA_ASAN
#define HARENA_ASAN 0
#endif

#if defined(__has_feature)
#if __has_feature(memory_sanitizer)
#define HARENA_MSAN 1
#endif
#endif
#ifndef HARENA_MSAN
#define HARENA_MSAN 0
#endif
