#include "bench/load/server_life.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>

namespace harena::bench {
namespace {

int SignalFile() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  return signalfd(-1, &signals, SFD_CLOEXEC);
}

}  // namespace

ServerLife::ServerLife() : signal_file_(SignalFile()) {}

ServerLife::~ServerLife() { close(signal_file_); }

void ServerLife::WaitForEnd() const {
  for (;;) {
    pollfd files[] = {{STDIN_FILENO, POLLIN, 0}, {signal_file_, POLLIN, 0}};
    if (poll(files, 2, -1) < 0) continue;
    if (files[1].revents != 0) return;
    char ignored[256];
    if (files[0].revents != 0 && read(STDIN_FILENO, ignored, sizeof ignored) <= 0) return;
  }
}

}  // namespace harena::bench
