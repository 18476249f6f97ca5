// What is wrong with a person's input: a value, never an exception.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace shardscape {

enum class Severity { Error, Note };

// Setting these knobs to these texts makes the problem go away. One click in the window.
struct Fix {
  std::string label;                                         // "set tp to 4"
  std::vector<std::pair<std::string, std::string>> settings;  // knob id, value as text
};

struct Problem {
  Severity severity = Severity::Error;
  std::string where;     // knob id ("tp") or a place in a file ("blocks/mlp.json:12")
  std::string what;      // "32 heads do not split over tp = 5"
  std::string accepted;  // "a divisor of 32: 1, 2, 4, 8, 16 or 32"
  std::vector<Fix> fixes;
};

// "tp: 32 heads do not split over tp = 5; accepted: a divisor of 32 ..."
std::string to_string(const Problem& problem);
bool has_errors(const std::vector<Problem>& problems);

}  // namespace shardscape
