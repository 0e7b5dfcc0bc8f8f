// Whether this compiler, C++ library and protobuf are the ones whose layout the codec knows.
// Everything in the program that depends on a layout stands in this folder.
#pragma once

#include <string>

#include <google/protobuf/stubs/common.h>

// The families of protobuf releases whose classes the codec knows. What differs between them stands
// in files of this folder that have the family's name at their end.
#if GOOGLE_PROTOBUF_VERSION >= 3021000 && GOOGLE_PROTOBUF_VERSION < 3022000
#define HARENA_PROTOBUF_3_21 1  // generated classes parse and serialize through virtual functions
#else
#define HARENA_PROTOBUF_3_21 0
#endif
#if GOOGLE_PROTOBUF_VERSION >= 5029000 && GOOGLE_PROTOBUF_VERSION < 5030000
#define HARENA_PROTOBUF_29 1  // they parse by tables, which are static members
#else
#define HARENA_PROTOBUF_29 0
#endif
#if GOOGLE_PROTOBUF_VERSION >= 7036000 && GOOGLE_PROTOBUF_VERSION < 7037000
#define HARENA_PROTOBUF_36 1  // they parse by tables that constexpr functions make
#else
#define HARENA_PROTOBUF_36 0
#endif
#define HARENA_PARSES_BY_TABLE (HARENA_PROTOBUF_29 || HARENA_PROTOBUF_36)

// The generated code asks for these and is protobuf's own where they are 0.
//
// HARENA_CODEC: the whole codec, parser and serializer. It needs libstdc++ with the strings of its
// C++11 ABI.
#if (HARENA_PROTOBUF_3_21 || HARENA_PARSES_BY_TABLE) && defined(_GLIBCXX_USE_CXX11_ABI) && \
    _GLIBCXX_USE_CXX11_ABI
#define HARENA_CODEC 1
#else
#define HARENA_CODEC 0
#endif

// HARENA_SERIALIZER: the serializer, with or without the parser.
#if HARENA_CODEC || HARENA_PARSES_BY_TABLE
#define HARENA_SERIALIZER 1
#else
#define HARENA_SERIALIZER 0
#endif
