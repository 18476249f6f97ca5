// Conditions on designs, as people write them: "tp*cp <= node", "tokens >= 4M", "pp == 1 or virtual_stages >
// 1".
#pragma once

#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "base/problem.h"
#include "design/design.h"

namespace shardscape {

// Comparisons (<, <=, ==, !=, >=, >) of sums and products over numbers (also 4k = 4,096 and 4M = 4,194,304),
// knob ids and the quantities below, joined by "and", "or", "not" and parentheses. A choice is compared with
// one of its values or with several between bars: "schedule == 1f1b|zb-h1". A Boolean knob may stand by
// itself.
class Constraint {
 public:
  static std::variant<Constraint, Problem> parse(const std::string& text);
  bool holds(const Design& design) const { return test_(design); }
  const std::string& text() const { return text_; }

  using Number = std::function<double(const Design&)>;
  using Test = std::function<bool(const Design&)>;

 private:
  std::string text_;
  Test test_;
};

// Names beside knob ids, each with its meaning: gpus, nodes, node, domain, tokens, microbatches.
struct ConstraintQuantity {
  const char *name, *help;
  double (*of)(const Design&);
};
const std::vector<ConstraintQuantity>& quantities();
// What a constraint may be, for people.
std::string constraint_help();

}  // namespace shardscape
