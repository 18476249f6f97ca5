#include "explore/constraint.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>

#include "base/number_text.h"
#include "base/real_text.h"
#include "campaign/running_cost.h"
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
      {"node", "GPUs per node", [](const Design& d) { return static_cast<double>(d.cluster.gpus_per_node); }},
      {"domain", "ranks of a scale-up domain",
       [](const Design& d) { return static_cast<double>(scaleup_domain(d)); }},
      {"tokens", "tokens per step",
       [](const Design& d) {
         return static_cast<double>(d.workload.batch) * static_cast<double>(d.workload.seq);
       }},
      {"microbatches", "microbatches per replica and step", [](const Design& d) {
         return static_cast<double>(d.workload.batch / (d.workload.microbatch * d.parallel.dp));
       }}};
  return list;
}

namespace {

constexpr double kGiB = 1024.0 * 1024 * 1024, kSecondsPerDay = 86400;

}  // namespace

const std::vector<ConstraintFigure>& constraint_figures() {
  static const auto of_objective = [](std::string_view id) {
    return objectives()[static_cast<size_t>(find_objective(id))].value;
  };
  static const std::vector<ConstraintFigure> list{
      {"step", "step_time", "seconds of a step", of_objective("step_time")},
      {"TTFT", "ttft", "seconds to the first token", of_objective("step_time")},
      {"TPOT", "tpot", "seconds per output token", of_objective("step_time")},
      {"memory", "memory", "memory in use at the peak, in GiB",
       [](const Scored& s) { return static_cast<double>(s.evaluation.memory) / kGiB; }},
      {"MFU", "mfu", "model FLOPs utilization, in percent",
       [](const Scored& s) { return 100 * s.evaluation.mfu; }},
      {"tokens/s per GPU", "tokens_per_gpu", "tokens/s per GPU", of_objective("tokens_per_gpu")},
      {"free", "headroom", "free memory, in GiB",
       [](const Scored& s) {
         return static_cast<double>(s.evaluation.capacity - s.evaluation.memory) / kGiB;
       }},
      {"$ per M tokens", "cost", "dollars per million tokens", of_objective("cost")},
      {"J per token", "energy", "joules per token", of_objective("energy")},
      {"bubble", "bubble", "idle share of the pipeline, in percent",
       [](const Scored& s) { return 100 * s.evaluation.bubble; }},
      {"exposed", "exposed", "exposed communication as a share of the step, in percent",
       [](const Scored& s) { return 100 * s.evaluation.exposed; }},
      {"TFLOP/s", "model_tflops", "model TFLOP/s per GPU",
       [](const Scored& s) { return s.evaluation.model_tflops; }},
      {"kWh per M tokens", "kwh", "energy per million tokens, in kWh",
       [](const Scored& s) {
         return running_cost(s.design.cluster, s.design.world(), s.evaluation.tokens_per_second)
             .kwh.value_or(std::nan(""));
       }},
      {"days", "days", "days of the training run without interruptions", [](const Scored& s) {
         const bool run = trains(s.design) && s.design.workload.tokens > 0 && s.evaluation.timed();
         return run ? static_cast<double>(s.design.workload.tokens) / s.evaluation.tokens_per_second /
                          kSecondsPerDay
                    : std::nan("");
       }}};
  return list;
}

std::vector<std::pair<std::string, std::string>> constraint_names() {
  std::vector<std::pair<std::string, std::string>> out;
  for (const ConstraintFigure& figure : constraint_figures()) out.emplace_back(figure.name, figure.help);
  for (const ConstraintQuantity& quantity : quantities()) out.emplace_back(quantity.name, quantity.help);
  for (const Knob& knob : knobs()) out.emplace_back(knob.id, knob.label);
  return out;
}

bool Constraint::holds(const Design& design) const {
  static const Evaluation none;
  return test_({design, none});
}

std::string constraint_help() {
  std::string names;
  for (const ConstraintQuantity& quantity : quantities())
    names += std::string(names.empty() ? "" : ", ") + quantity.name + " (" + quantity.help + ")";
  std::string figures;
  for (const ConstraintFigure& figure : constraint_figures())
    figures += std::string(figures.empty() ? "" : ", ") + figure.name;
  return "comparisons of settings, quantities and figures such as tp*cp<=node, tokens>=4M, "
         "schedule==1f1b|zb-h1, step<15 or memory<70 GiB, joined by and, or, not; quantities: " +
         names + "; figures of timed designs: " + figures;
}

namespace {

using Number = Constraint::Number;
using Test = Constraint::Test;

// A constraint is a call per term and parenthesis: these limits bound the stack and the time of one.
constexpr size_t kLongestConstraint = 2000;
constexpr int kDeepestConstraint = 50;

// Recursive descent: or, and, not, comparison, sum, product, factor. Throws a Problem.
class Parser {
 public:
  explicit Parser(const std::string& text) : text_(text) {}

  bool of_figures() const { return of_figures_; }
  Test whole() {
    Test test = any();
    skip();
    if (at_ < text_.size())
      fail("\"" + text_.substr(at_) + "\" is not expected after the end of the condition");
    return test;
  }

 private:
  struct Operand {
    Number number;
    const Knob* knob = nullptr;  // set if the factor is a single knob
  };

  // One more parenthesis or "not".
  class Level {
   public:
    explicit Level(Parser& parser) : depth_(parser.depth_) {
      if (depth_ == kDeepestConstraint)
        parser.fail("it nests deeper than " + std::to_string(kDeepestConstraint) + " levels");
      ++depth_;
    }
    ~Level() { --depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    int& depth_;
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
      left = [left, right = all()](const Scored& d) { return left(d) || right(d); };
    return left;
  }
  Test all() {
    Test left = one();
    while (take("and") || take("&&"))
      left = [left, right = one()](const Scored& d) { return left(d) && right(d); };
    return left;
  }
  Test one() {
    const Level level(*this);
    if (take("not")) return [test = one()](const Scored& d) { return !test(d); };
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
        return [n = left.number](const Scored& d) { return n(d) != 0; };
      fail("a comparison such as <= is missing");
    }
    if (*op == "==" || *op == "!=") return equality(left, *op == "==");
    if (left.knob && left.knob->type == KnobType::Choice)
      fail("the values of " + left.knob->id + " have no order");
    const Number a = left.number, b = sum().number;
    if (*op == "<=") return [a, b](const Scored& d) { return a(d) <= b(d); };
    if (*op == ">=") return [a, b](const Scored& d) { return a(d) >= b(d); };
    if (*op == "<") return [a, b](const Scored& d) { return a(d) < b(d); };
    return [a, b](const Scored& d) { return a(d) > b(d); };
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
    return [a = left.number, values, equal](const Scored& d) {
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
    return [value = static_cast<double>(knob_number(knob)(scratch))](const Scored&) { return value; };
  }

  Operand sum() {
    Operand left = product();
    while (true) {
      if (take("+"))
        left = {[a = std::move(left.number), b = product().number](const Scored& d) { return a(d) + b(d); }};
      else if (take("-"))
        left = {[a = std::move(left.number), b = product().number](const Scored& d) { return a(d) - b(d); }};
      else
        return left;
    }
  }
  Operand product() {
    Operand left = factor();
    while (true) {
      if (take("*"))
        left = {[a = std::move(left.number), b = factor().number](const Scored& d) { return a(d) * b(d); }};
      else if (take("/"))
        left = {[a = std::move(left.number), b = factor().number](const Scored& d) { return a(d) / b(d); }};
      else if (take("%"))
        left = {[a = std::move(left.number), b = factor().number](const Scored& d) {
          return std::fmod(a(d), b(d));
        }};
      else
        return left;
    }
  }
  Operand factor() {
    if (take("(")) {
      const Level level(*this);
      Operand inner = sum();
      if (!take(")")) fail("a parenthesis is not closed");
      return {inner.number};
    }
    skip();
    if (at_ < text_.size() && (std::isdigit(static_cast<unsigned char>(text_[at_])) || text_[at_] == '.'))
      return {number()};
    const size_t start = at_;
    const Displayed displayed = displayed_name();
    const auto end_of = [&](bool dashes) {
      size_t end = start;
      while (end < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[end])) ||
                                    text_[end] == '_' || (dashes && text_[end] == '-')))
        ++end;
      return end;
    };
    at_ = end_of(true);  // a knob spelled like its flag, with dashes; else the dash is a minus
    if (!find_knob(id_of(text_.substr(start, at_ - start)))) at_ = end_of(false);
    const size_t length = at_ - start;
    if (displayed.length > length ||
        (displayed.length == length && length > 0 && !is_name(text_.substr(start, length)))) {
      at_ = start + displayed.length;
      return displayed.figure ? figure(*displayed.figure) : number_of(*displayed.knob);
    }
    if (at_ == start)
      fail(at_ == text_.size() ? "a value is missing at the end"
                               : "\"" + text_.substr(at_, 1) + "\" is not accepted here");
    return named(text_.substr(start, at_ - start));
  }
  Number number() {
    // Seconds and GiB, the units of figures.
    static constexpr std::pair<std::string_view, double> kUnits[] = {
        {"ms", 1e-3},       {"us", 1e-6},        {"min", 60},        {"s", 1},      {"GiB", 1},
        {"GB", 1e9 / kGiB}, {"MiB", 1.0 / 1024}, {"MB", 1e6 / kGiB}, {"TiB", 1024}, {"TB", 1e12 / kGiB},
        {"k", 1024},        {"K", 1024},         {"M", 1024 * 1024}};
    const auto read = leading_real(std::string_view(text_).substr(at_));
    if (!read) fail("\"" + text_.substr(at_) + "\" does not start with a number");
    double value = read->value;
    at_ += read->length;
    for (const auto& [unit, factor] : kUnits)
      if (take(unit)) {
        value *= factor;
        break;
      }
    take_percent();
    return [value](const Scored&) { return value; };
  }
  // A percent sign that no number follows is a unit, else the remainder.
  void take_percent() {
    const size_t start = at_;
    if (!take("%")) return;
    skip();
    const bool ends = at_ == text_.size() ||
                      std::string_view(")|&<>=!").find(text_[at_]) != std::string_view::npos;
    const size_t after = at_;
    const bool joins = take("and") || take("or");
    at_ = ends || joins ? after : start;
  }
  static std::string id_of(std::string name) {
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
  }
  Operand named(const std::string& name) {
    for (const ConstraintQuantity& quantity : quantities())
      if (name == quantity.name)
        return {[value = quantity.value](const Scored& d) { return value(d.design); }};
    const Knob* knob = knob_of(name);
    for (const ConstraintFigure& of : constraint_figures())
      if (!knob && name == of.id) return figure(of);
    for (const ConstraintQuantity& quantity : quantities())
      if (!knob && same_word(name, quantity.name))
        return {[value = quantity.value](const Scored& d) { return value(d.design); }};
    if (!knob) fail("there is no setting, quantity or figure \"" + name + "\"");
    return number_of(*knob);
  }
  // The knob with this id or symbol; nullptr: none.
  static const Knob* knob_of(const std::string& name) {
    if (const Knob* knob = find_knob(id_of(name))) return knob;
    const auto all = knobs();
    const auto it = std::find_if(all.begin(), all.end(), [&](const Knob& k) { return k.symbol == name; });
    return it == all.end() ? nullptr : &*it;
  }
  static bool is_name(const std::string& word) {
    return knob_of(word) || std::any_of(quantities().begin(), quantities().end(),
                                        [&](const ConstraintQuantity& q) { return word == q.name; });
  }
  static Operand number_of(const Knob& knob) {
    const double scale = knob.type == KnobType::Decimal ? 1000 : 1;
    return {
        [n = knob_number(knob), scale](const Scored& d) { return static_cast<double>(n(d.design)) / scale; },
        &knob};
  }
  Operand figure(const ConstraintFigure& of) {
    of_figures_ = true;
    return {of.value};
  }
  static bool same_word(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
      return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
    });
  }
  // The longest displayed name here: "tokens/s per GPU", "Virtual stages". A figure goes before a label.
  struct Displayed {
    size_t length = 0;
    const ConstraintFigure* figure = nullptr;
    const Knob* knob = nullptr;
  };
  Displayed displayed_name() const {
    Displayed out;
    const auto reads = [&](std::string_view name) {
      const size_t end = at_ + name.size();
      const bool inside = end < text_.size() &&
                          (std::isalnum(static_cast<unsigned char>(text_[end])) || text_[end] == '_');
      if (name.size() <= out.length || inside ||
          !same_word(std::string_view(text_).substr(at_, name.size()), name))
        return false;
      out.length = name.size();
      return true;
    };
    for (const ConstraintFigure& figure : constraint_figures())
      if (reads(figure.name)) out.figure = &figure;
    for (const Knob& knob : knobs()) {
      std::string words = knob.id;
      std::replace(words.begin(), words.end(), '_', ' ');
      const bool by_id = reads(words), by_label = reads(knob.label);
      if (!by_id && !by_label) continue;
      out.knob = &knob;
      out.figure = nullptr;
    }
    return out;
  }

  const std::string& text_;
  size_t at_ = 0;
  int depth_ = 0;
  bool of_figures_ = false;
};

}  // namespace

Result<Constraint> Constraint::parse(const std::string& text) {
  if (text.size() > kLongestConstraint)
    return Problem{ProblemCode::ConstraintSyntax, "constraint",
                   "the constraint has " + std::to_string(text.size()) + " characters",
                   "at most " + std::to_string(kLongestConstraint) + "; several constraints are all kept"};
  Constraint made;
  made.text_ = std::string(trimmed(text));
  try {
    Parser parser(made.text_);
    made.test_ = parser.whole();
    made.of_figures_ = parser.of_figures();
  } catch (const Problem& problem) {
    return problem;
  }
  return made;
}

}  // namespace shardscape
