// Whose a change of settings is: for those who list what changed while the process runs.
#pragma once

#include <functional>

namespace harena::pb {

/// Runs `change`, which changes settings of what the process serves, in the name of `who`
/// ("config"): every ChangeListener is called before it and after it. What changes outside of such
/// a call is nobody's in particular.
/// Thread rule: any thread, one at a time; not from within `change` or a listener.
/// Lifetime rule: listeners may keep `who`: it must live for ever.
void ChangeAs(const char* who, const std::function<void()>& change);

/// Is told of every ChangeAs(), from its making to its end, which waits for calls under way.
class ChangeListener {
 public:
  /// `listen` is called with null before a change, and with whose it was after it, on the thread
  /// that makes it. It may ask for settings, and not change any.
  explicit ChangeListener(std::function<void(const char* who)> listen);
  ~ChangeListener();
  ChangeListener(const ChangeListener&) = delete;
  ChangeListener& operator=(const ChangeListener&) = delete;

 private:
  const std::function<void(const char* who)> listen_;
};

}  // namespace harena::pb
