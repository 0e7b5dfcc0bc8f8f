// Compiled as Harena's own files are. Without arguments it prints which protections the compiler
// was told to give; `stack` and `fortify` each write past a buffer, which must end the program.
#include <cstdio>
#include <cstring>
#include <string>

namespace {

// Past the end of an array on the stack: the protector's word lies there.
__attribute__((noinline)) void Smash(size_t length) {
  char buffer[16];
  volatile char* place = buffer;
  for (size_t i = 0; i < length; ++i) place[i] = 'x';
  std::printf("%c\n", place[0]);
}

// A copy whose destination the compiler knows the size of, and whose length it does not. The stack
// protector would see it too, but later: the message tells them apart.
__attribute__((noinline)) void CopyTooMuch(const std::string& text) {
  char buffer[16];
  std::memcpy(buffer, text.data(), text.size());
  std::printf("%.16s\n", buffer);
}

void Print() {
#ifdef __SSP_STRONG__
  std::puts("stack-protector");
#endif
#if defined(_FORTIFY_SOURCE) && _FORTIFY_SOURCE >= 2
  std::puts("fortify");
#endif
#ifdef __CET__
  std::puts("cf-protection");
#endif
#ifdef __PIE__
  std::puts("pie");
#endif
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "stack") {
    Smash(64 + static_cast<size_t>(argc));
  } else if (what == "fortify") {
    CopyTooMuch(std::string(64 + static_cast<size_t>(argc), 'x'));
  } else {
    Print();
  }
  return 0;
}
