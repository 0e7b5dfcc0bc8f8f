// A consumer of harena::live: a page that listens, and says why it does not.
#include <cstdio>

#include "harena/live/listener.h"

int main() {
  const harena::live::Listener page({.address = "127.0.0.1:0"});
  if (page.problem()) std::puts(page.problem()->c_str());
  const harena::live::Listener nowhere({.address = "nowhere"});
  return !page.problem() && !page.address().empty() && nowhere.problem() ? 0 : 1;
}
