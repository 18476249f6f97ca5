// Textual constraints on designs and on their figures: "tp*cp <= node", "pp == 1 or virtual stages > 1",
// "step < 15 and memory < 70 GiB".
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/problem.h"
#include "design/design.h"
#include "explore/objective.h"

namespace shardscape {

// Grammar: comparisons (<, <=, ==, !=, >=, >) joined by "and", "or", "not" and parentheses. Both sides are
// sums and products of numbers, knobs and the quantities and figures below. A knob is its id, its symbol, or
// its label in any case. Numbers: 4k = 4,096, 4M = 4,194,304, and units of time and memory, 70 GiB or 250 ms,
// as well as 40 %. A choice is compared with one value or with alternatives separated by bars:
// "schedule == 1f1b|zb-h1". A Boolean knob is a condition by itself.
class Constraint {
 public:
  static Result<Constraint> parse(const std::string& text);
  // True if the constraint names a figure: it can be decided only for a timed design.
  bool of_figures() const { return of_figures_; }
  bool holds(const Design& design) const;  // requires !of_figures()
  bool holds(const Scored& timed) const { return test_(timed); }
  const std::string& text() const { return text_; }

  using Number = std::function<double(const Scored&)>;
  using Test = std::function<bool(const Scored&)>;

 private:
  std::string text_;
  Test test_;
  bool of_figures_ = false;
};

// A quantity that constraints may name although it is no knob: gpus, nodes, node, domain, tokens,
// microbatches.
struct ConstraintQuantity {
  const char *name, *help;
  double (*value)(const Design&);
};
const std::vector<ConstraintQuantity>& quantities();
// A figure of a timed design, under the name that tables give it. step: seconds; memory and free: GiB; MFU,
// bubble and exposed: percent. NaN: unknown, no comparison holds.
struct ConstraintFigure {
  const char *name, *id, *help;
  double (*value)(const Scored&);
};
const std::vector<ConstraintFigure>& constraint_figures();
// Every name that a constraint accepts, with a text for people: figures, quantities, then knobs.
std::vector<std::pair<std::string, std::string>> constraint_names();
// Help text on the grammar.
std::string constraint_help();

}  // namespace shardscape
