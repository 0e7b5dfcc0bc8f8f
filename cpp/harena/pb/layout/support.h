// Whether this compiler, C++ library and protobuf are the ones whose layout the codec knows.
// Everything in the program that depends on a layout stands in this folder.
#pragma once

#include <string>

#include <google/protobuf/stubs/common.h>

// The generated code asks for this and is protobuf's own where it is 0:
//   - protobuf 3.21, whose generated classes parse and serialize through virtual functions,
//   - libstdc++ with the strings of its C++11 ABI.
#if GOOGLE_PROTOBUF_VERSION >= 3021000 && GOOGLE_PROTOBUF_VERSION < 3022000 && \
    defined(_GLIBCXX_USE_CXX11_ABI) && _GLIBCXX_USE_CXX11_ABI
#define HARENA_CODEC 1
#else
#define HARENA_CODEC 0
#endif
