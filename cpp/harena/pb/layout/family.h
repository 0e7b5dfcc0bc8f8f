// Whether this compiler, C++ library and protobuf are the ones whose layout the codec knows.
// Everything in the program that depends on a layout stands in this folder.
#pragma once

#include <string>

#include <google/protobuf/stubs/common.h>

// The generated code asks for these and is protobuf's own where they are 0.
//
// HARENA_CODEC: the whole codec, parser and serializer. It needs
//   - protobuf 3.21, whose generated classes parse and serialize through virtual functions,
//   - libstdc++ with the strings of its C++11 ABI.
#if GOOGLE_PROTOBUF_VERSION >= 3021000 && GOOGLE_PROTOBUF_VERSION < 3022000 && \
    defined(_GLIBCXX_USE_CXX11_ABI) && _GLIBCXX_USE_CXX11_ABI
#define HARENA_CODEC 1
#else
#define HARENA_CODEC 0
#endif

// HARENA_SERIALIZER: the serializer, with or without the parser. Alone it needs
//   - protobuf 36, whose generated classes parse by tables and serialize by functions of their own.
#if HARENA_CODEC || (GOOGLE_PROTOBUF_VERSION >= 7036000 && GOOGLE_PROTOBUF_VERSION < 7037000)
#define HARENA_SERIALIZER 1
#else
#define HARENA_SERIALIZER 0
#endif
