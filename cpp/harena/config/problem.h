// What is wrong with settings, and where they come from.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace harena::config {

/// Where a setting comes from: a line of a file, or what overrides it.
struct Place {
  std::string source;  ///< The file's name, "HARENA_MODE" or "--harena_mode".
  int line = 0;        ///< From 1; 0 where there are no lines.
  int column = 0;

  /// "harena.yaml:3:9", or "HARENA_MODE".
  std::string ToString() const;
  /// The same for a reader who knows the file: "line 3".
  std::string Short() const;
  bool operator==(const Place&) const = default;
};

/// One thing that is wrong, with what to do about it.
struct Problem {
  Place place;
  std::string reason;

  /// "harena.yaml:3:9: reason".
  std::string ToString() const;
  bool operator==(const Problem&) const = default;
};

/// All that is wrong, in the order of the file.
using Problems = std::vector<Problem>;

/// A line for each, without a line end after the last.
std::string ToString(const Problems& problems);

/// Adds a problem, unless it is there.
void Add(Problems& problems, const Place& place, std::string reason);
/// Adds that a name is none of those that are known there; `what` is "key" or "setting".
void AddUnknown(Problems& problems, const Place& place, std::string_view what,
                std::string_view name, const std::vector<std::string>& known);
/// Puts them into the order of the file.
void Sort(Problems& problems);

/// A text that may hold a file's characters, with a '?' in place of each that is not printable
/// ASCII: no line ends, nothing that a terminal obeys.
std::string Visible(std::string_view text);
/// A text of a file as reasons have it: in quotation marks, short, and on one line.
std::string Quote(std::string_view text);
/// The name that the wrong one was probably meant to be.
std::optional<std::string> Near(std::string_view wrong, const std::vector<std::string>& names);

}  // namespace harena::config
