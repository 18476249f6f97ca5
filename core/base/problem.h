// A mistake in the user's input, as a value. Such mistakes never throw.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace shardscape {

enum class Severity { Error, Note };

// The kind of mistake, independent of the wording. problem_codes.def has one row per code.
enum class ProblemCode : uint16_t {
#define PROBLEM(code, text, meaning) code,
#include "base/problem_codes.def"
#undef PROBLEM
};

struct ProblemKind {
  ProblemCode code;
  std::string_view text;     // "heads-indivisible-by-tp": stable, in JSON and on screen
  std::string_view meaning;  // "tp does not divide the attention heads"
};
std::span<const ProblemKind> problem_kinds();  // all, in the order of the enum
std::string_view code_text(ProblemCode code);

// A correction that removes the problem: each knob gets the given text. The window applies a fix with one
// click.
struct Fix {
  std::string label;                                          // "set tp to 4"
  std::vector<std::pair<std::string, std::string>> settings;  // knob id, value as text
};

struct Problem {
  Problem(ProblemCode kind, std::string place, std::string wrong, std::string wanted = {},
          std::vector<Fix> corrections = {});
  // A problem that does not prevent a result.
  static Problem note(ProblemCode kind, std::string place, std::string wrong, std::string wanted = {},
                      std::vector<Fix> corrections = {});

  ProblemCode code;
  Severity severity = Severity::Error;
  std::string where;     // knob id ("tp") or a position in a file ("blocks/mlp.json:12")
  std::string what;      // "32 heads do not split over tp = 5"
  std::string accepted;  // "a divisor of 32: 1, 2, 4, 8, 16 or 32"
  std::vector<Fix> fixes;
};

// A value, or the reason why there is none.
template <class T>
using Result = std::variant<T, Problem>;

// "tp: 32 heads do not split over tp = 5; accepted: a divisor of 32 ..."
std::string to_string(const Problem& problem);
bool has_errors(const std::vector<Problem>& problems);

}  // namespace shardscape
