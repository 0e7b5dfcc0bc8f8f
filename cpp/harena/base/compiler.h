// What the compiler is asked for, under one spelling. No declarations of our own.
#pragma once

#define HARENA_LIKELY(condition) __builtin_expect(static_cast<bool>(condition), 1)
#define HARENA_UNLIKELY(condition) __builtin_expect(static_cast<bool>(condition), 0)
#define HARENA_INLINE inline __attribute__((always_inline))
#define HARENA_NOINLINE __attribute__((noinline))
// A type through which objects of other types may be looked at.
#define HARENA_MAY_ALIAS __attribute__((__may_alias__))

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

// For the rare function that looks at memory it cannot know anything about.
#if HARENA_ASAN
#define HARENA_NO_SANITIZE __attribute__((no_sanitize_address))
#elif defined(__clang__)
#define HARENA_NO_SANITIZE __attribute__((no_sanitize_thread))
#else
#define HARENA_NO_SANITIZE
#endif

#if defined(__has_feature)
#if __has_feature(memory_sanitizer)
#define HARENA_MSAN 1
#endif
#endif
#ifndef HARENA_MSAN
#define HARENA_MSAN 0
#endif
