// Prints what pb::Capabilities() says in a program that has messages with the codec.
#include <iostream>

#include "harena/pb/codec/registered.h"
#include "harena/test/shapes.pb.h"

int main() {
  const harena::test::Shapes linked;  // with its file's list of messages
  std::cout << harena::pb::Capabilities().ToText();
  return linked.number() == 0 ? 0 : 1;
}
