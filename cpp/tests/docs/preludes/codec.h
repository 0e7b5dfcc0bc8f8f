#include <iostream>
#include <string>

#include "harena/bench/v1/ranking.pb.h"
#include "harena/pb/capabilities.h"
#include "harena/pb/parse.h"

using harena::bench::v1::RankRequest;
inline const std::string wire;
