// Links and runs against harena::config.
#include <harena/config/watcher.h>

int main() {
  harena::config::Problems problems;
  const auto config = harena::config::Config::Parse(
      "harena.yaml", "version: 1\ndefaults: {request_bytes_max: 64MiB}\n", problems);
  if (!config) return 1;
  const auto options = config->OptionsFor("", {}, problems);
  return options && options->request_bytes_max == 64 << 20 ? 0 : 1;
}
