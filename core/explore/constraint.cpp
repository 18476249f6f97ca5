#include "explore/constraint.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "base/number_text.h"
#include "design/cluster.h"
#include "design/knobs/knobs.h"

namespace shardscape {

const std::vector<ConstraintQuantity>& quantities() {
  static const std::vector<ConstraintQuantity> list{
      {"gpus", "ranks of the job", [](const Design& d) { return static_cast<double>(d.world()); }},
      {"nodes", "nodes of the job",
       [](const Design& d) {
         return std::ceil(static_cast<double>(d.world()) / static_cast<double>(d.cluster.gpus_per_node));
       }},
      {"node", "GPUs of a node",
       [](const Design& d) { return static_cast<double>(d.cluster.gpus_per_node); }},
      {"domain", "ranks of a scale-up domain",
       [](const Design& d) { return static_cast<double>(scaleup_domain(d)); }},
      {"tokens", "tokens of a step",
       [](const Design& d) {
         return static_cast<double>(d.workload.batch) * static_cast<double>(d.workload.seq);
       }},
      {"microbatches", "microbatches of a replica in a step", [](const Design& d) {
         return static_cast<double>(d.workload.batch / (d.workload.microbatch * d.parallel.dp));
       }}};
  return list;
}

std::string constraint_help() {
  std::string names;
  for (const ConstraintQuantity& quantity : quantities())
    names += std::string(names.empty() ? "" : ", ") + quantity.name + " (" + quantity.help + ")";
  return "comparisons of knobs and quantities such as tp*cp<=node, tokens>=4M or schedule==1f1b|zb-h1, "
         "joined by and, or, not; quantities: " +
         names;
}

namespace {

using Number = Constraint::Number;
using Test = Constraint::Test;

// Recursive descent: or, and, not, comparison, sum, product, factor. Throws a Problem.
class Parser {
 public:
  explicit Parser(const std::string& text) : text_(text) {}

  Test whole() {
    Test test = any();
    skip();
    if (at_ < text_.size()) fail("\"" + text_.substr(at_) + "\" follows the end of the condition");
    return test;
  }

 private:
  struct Operand {
    Number number;
    const Knob* knob = nullptr;  // set if the factor is a single knob
  };

  [[noreturn]] void fail(const std::string& what) const {
    throw Problem{ProblemCode::ConstraintSyntax, "constraint", "\"" + text_ + "\": " + what,
                  constraint_help()};
  }
  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool take(std::string_view token) {
    skip();
    if (text_.compare(at_, token.size(), token) != 0) return false;
    const bool word = std::isalpha(static_cast<unsigned char>(token[0])) != 0;
    const size_t end = at_ + token.size();
    if (word && end < text_.size() &&
        (std::isalnum(static_cast<unsigned char>(text_[end])) || text_[end] == '_'))
      return false;
    at_ = end;
    return true;
  }

  Test any() {
    Test left = all();
    while (take("or") || take("||"))
      left = [left, right = all()](const Design& d) { return left(d) || right(d); };
    return left;
  }
  Test all() {
    Test left = one();
    while (take("and") || take("&&"))
      left = [left, right = one()](const Design& d) { return left(d) && right(d); };
    return left;
  }
  Test one() {
    if (take("not")) return [test = one()](const Design& d) { return !test(d); };
    // A parenthesis may hold a condition or a sum.
    const size_t start = at_;
    if (take("(")) {
      try {
        Test inner = any();
        if (take(")") && !follows_operator()) return inner;
      } catch (const Problem&) {}
      at_ = start;
    }
    return comparison();
  }
  bool follows_operator() {
    skip();
    return at_ < text_.size() && std::string_view("+-*/<>=!").find(text_[at_]) != std::string_view::npos;
  }

  Test comparison() {
    const Operand left = sum();
    const std::optional<std::string> op = comparator();
    if (!op) {
      if (left.knob && left.knob->type == KnobType::Boolean)
        return [n = left.number](const Design& d) { return n(d) != 0; };
      fail("a comparison such as <= is missing");
    }
    if (*op == "==" || *op == "!=") return equality(left, *op == "==");
    if (left.knob && left.knob->type == KnobType::Choice)
      fail("the values of " + left.knob->id + " have no order");
    const Number a = left.number, b = sum().number;
    if (*op == "<=") return [a, b](const Design& d) { return a(d) <= b(d); };
    if (*op == ">=") return [a, b](const Design& d) { return a(d) >= b(d); };
    if (*op == "<") return [a, b](const Design& d) { return a(d) < b(d); };
    return [a, b](const Design& d) { return a(d) > b(d); };
  }
  std::optional<std::string> comparator() {
    for (const char* op : {"<=", ">=", "==", "!=", "<", ">"})
      if (take(op)) return op;
    if (take("=")) return "==";
    return std::nullopt;
  }
  Test equality(const Operand& left, bool equal) {
    std::vector<Number> values;
    do
      values.push_back(left.knob && left.knob->type != KnobType::Integer &&
                               left.knob->type != KnobType::Decimal
                           ? named_value(*left.knob)
                           : sum().number);
    while (take("|"));
    return [a = left.number, values, equal](const Design& d) {
      const double is = a(d);
      return std::any_of(values.begin(), values.end(), [&](const Number& v) { return v(d) == is; }) == equal;
    };
  }
  // Names of choices may contain operator characters.
  Number named_value(const Knob& knob) {
    skip();
    const size_t end = std::min(text_.find_first_of(" |)", at_), text_.size());
    const std::string word = text_.substr(at_, end - at_);
    Design scratch;
    if (const auto problem = set_knob(scratch, knob, word))
      fail(problem->what + "; accepted: " + problem->accepted);
    at_ = end;
    return [value = static_cast<double>(knob_number(knob)(scratch))](const Design&) { return value; };
  }

  Operand sum() {
    Operand left = product();
    while (true) {
      if (take("+"))
        left = {[a = left.number, b = product().number](const Design& d) { return a(d) + b(d); }};
      else if (take("-"))
        left = {[a = left.number, b = product().number](const Design& d) { return a(d) - b(d); }};
      else
        return left;
    }
  }
  Operand product() {
    Operand left = factor();
    while (true) {
      if (take("*"))
        left = {[a = left.number, b = factor().number](const Design& d) { return a(d) * b(d); }};
      else if (take("/"))
        left = {[a = left.number, b = factor().number](const Design& d) { return a(d) / b(d); }};
      else if (take("%"))
        left = {[a = left.number, b = factor().number](const Design& d) { return std::fmod(a(d), b(d)); }};
      else
        return left;
    }
  }
  Operand factor() {
    if (take("(")) {
      Operand inner = sum();
      if (!take(")")) fail("a parenthesis is not closed");
      return {inner.number};
    }
    skip();
    if (at_ < text_.size() && (std::isdigit(static_cast<unsigned char>(text_[at_])) || text_[at_] == '.'))
      return {number()};
    const size_t start = at_;
    const auto end_of = [&](bool dashes) {
      size_t end = start;
      while (end < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[end])) ||
                                    text_[end] == '_' || (dashes && text_[end] == '-')))
        ++end;
      return end;
    };
    at_ = end_of(true);  // a knob spelled like its flag, with dashes; else the dash is a minus
    if (!find_knob(id_of(text_.substr(start, at_ - start)))) at_ = end_of(false);
    if (at_ == start)
      fail(at_ == text_.size() ? "a value is missing at the end"
                               : "\"" + text_.substr(at_, 1) + "\" is not accepted here");
    return named(text_.substr(start, at_ - start));
  }
  Number number() {
    char* end = nullptr;
    double value = std::strtod(text_.c_str() + at_, &end);
    at_ = static_cast<size_t>(end - text_.c_str());
    if (take("k") || take("K"))
      value *= 1024;
    else if (take("M"))
      value *= 1024.0 * 1024;
    return [value](const Design&) { return value; };
  }
  static std::string id_of(std::string name) {
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
  }
  Operand named(const std::string& name) {
    for (const ConstraintQuantity& quantity : quantities())
      if (name == quantity.name) return {quantity.value};
    const Knob* knob = find_knob(id_of(name));
    if (!knob) fail("there is no knob or quantity \"" + name + "\"");
    const double scale = knob->type == KnobType::Decimal ? 1000 : 1;
    return {[n = knob_number(*knob), scale](const Design& d) { return static_cast<double>(n(d)) / scale; },
            knob};
  }

  const std::string& text_;
  size_t at_ = 0;
};

}  // namespace

Result<Constraint> Constraint::parse(const std::string& text) {
  Constraint made;
  made.text_ = std::string(trimmed(text));
  try {
    made.test_ = Parser(made.text_).whole();
  } catch (const Problem& problem) {
    return problem;
  }
  return made;
}

}  // namespace shardscape
