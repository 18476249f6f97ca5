// A mistake in the user's input, as a value. Such mistakes never throw.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace shardscape {

enum class Severity { Error, Note };

// A correction that removes the problem: each knob gets the given text. The window applies a fix with one
// click.
struct Fix {
  std::string label;                                          // "set tp to 4"
  std::vector<std::pair<std::string, std::string>> settings;  // knob id, value as text
};

struct Problem {
  Severity severity = Severity::Error;
  std::string where;     // knob id ("tp") or a position in a file ("blocks/mlp.json:12")
  std::string what;      // "32 heads do not split over tp = 5"
  std::string accepted;  // "a divisor of 32: 1, 2, 4, 8, 16 or 32"
  std::vector<Fix> fixes;
};

// "tp: 32 heads do not split over tp = 5; accepted: a divisor of 32 ..."
std::string to_string(const Problem& problem);
bool has_errors(const std::vector<Problem>& problems);

}  // namespace shardscape
