#include <iostream>
#include <string>

#include "harena/bench/v1/ranking.pb.h"
#include "harena/pb/codec/registered.h"
#include "harena/pb/parse/parse.h"

using harena::bench::v1::RankRequest;
inline const std::string wire;
