#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

#include "slicewise/codes.hpp"

// What slicewise says about a user's input. Library code returns these; only tools/ prints them.
namespace slicewise {

// A span of characters in an input file. Lines and columns count from 1, columns in characters.
// line == 0 means "no place in a file" (a flag, the catalogue, a result).
struct SourceLocation {
  std::string file;
  int line = 0;
  int column = 0;
  int length = 1;

  friend bool operator==(const SourceLocation&, const SourceLocation&) = default;
};

// A value together with the place in the file it was read from.
template <class T>
struct Located {
  T value{};
  SourceLocation where;
};

struct Diagnostic {
  Code code;
  Severity severity;
  SourceLocation where;
  std::string message;                      // what is wrong, one sentence, no full stop
  std::string label;                        // printed beside the caret, may be empty
  std::string help;                         // what to do, may be empty
  std::vector<std::string> workloads = {};  // that it is about, where it is about some of them
};

using Diagnostics = std::vector<Diagnostic>;

inline Diagnostic make_diagnostic(Code code, SourceLocation where, std::string message,
                                  std::string help = {}, std::string label = {}) {
  return {
      code,           info(code).severity, std::move(where), std::move(message), std::move(label),
      std::move(help)};
}

// ... among those that were found.
inline Diagnostic& add_diagnostic(Diagnostics& found, Code code, SourceLocation where,
                                  std::string message, std::string help = {},
                                  std::string label = {}) {
  return found.emplace_back(make_diagnostic(code, std::move(where), std::move(message),
                                            std::move(help), std::move(label)));
}

// ... as a note, whatever the code usually is.
inline void add_note(Diagnostics& found, Code code, SourceLocation where, std::string message,
                     std::string help = {}) {
  add_diagnostic(found, code, std::move(where), std::move(message), std::move(help)).severity =
      Severity::Note;
}

// What is found while it lives is about the workload.
class FindingsAbout {
 public:
  FindingsAbout(const std::string& workload, Diagnostics& found)
      : workload_(workload), found_(found), known_(found.size()) {}
  FindingsAbout(const FindingsAbout&) = delete;
  FindingsAbout& operator=(const FindingsAbout&) = delete;
  ~FindingsAbout() {
    for (; known_ < found_.size(); ++known_) found_[known_].workloads.push_back(workload_);
  }

 private:
  std::string workload_;
  Diagnostics& found_;
  std::size_t known_;
};

inline bool has_errors(const Diagnostics& diagnostics) {
  for (const Diagnostic& d : diagnostics) {
    if (d.severity == Severity::Error) return true;
  }
  return false;
}

// Whether `found` says the same of the same place already.
inline bool holds(const Diagnostics& found, const Diagnostic& d) {
  return std::ranges::any_of(found, [&](const Diagnostic& other) {
    return other.code == d.code && other.where == d.where && other.message == d.message;
  });
}

// What editors may put before a text in UTF-8.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// The text of an input file, kept so that a diagnostic can show its line.
struct SourceText {
  std::string name;  // as the user gave it; "-" is standard input
  std::string text;
};

// Either a value or every problem that was found, in the order of the file.
template <class T>
using Expected = tl::expected<T, Diagnostics>;

// In place of a value: the one problem for which there is none.
inline tl::unexpected<Diagnostics> failure(Code code, SourceLocation where, std::string message,
                                           std::string help = {}) {
  return tl::unexpected(
      Diagnostics{make_diagnostic(code, std::move(where), std::move(message), std::move(help))});
}

}  // namespace slicewise
