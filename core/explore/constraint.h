// Textual constraints on designs: "tp*cp <= node", "tokens >= 4M", "pp == 1 or virtual_stages > 1".
#pragma once

#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "base/problem.h"
#include "design/design.h"

namespace shardscape {

// Grammar: comparisons (<, <=, ==, !=, >=, >) joined by "and", "or", "not" and parentheses. Both sides are
// sums and products of numbers (4k = 4,096, 4M = 4,194,304), knob ids and the quantities below. A choice is
// compared with one value or with alternatives separated by bars: "schedule == 1f1b|zb-h1". A Boolean knob is
// a condition by itself.
class Constraint {
 public:
  static Result<Constraint> parse(const std::string& text);
  bool holds(const Design& design) const { return test_(design); }
  const std::string& text() const { return text_; }

  using Number = std::function<double(const Design&)>;
  using Test = std::function<bool(const Design&)>;

 private:
  std::string text_;
  Test test_;
};

// A quantity that constraints may name although it is no knob: gpus, nodes, node, domain, tokens,
// microbatches.
struct ConstraintQuantity {
  const char *name, *help;
  double (*value)(const Design&);
};
const std::vector<ConstraintQuantity>& quantities();
// Help text on the grammar.
std::string constraint_help();

}  // namespace shardscape
