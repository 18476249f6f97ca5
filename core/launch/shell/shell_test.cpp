#include "launch/shell/shell_test.h"

#include <charconv>
#include <optional>

namespace shardscape {
namespace {

constexpr int kDeepestTest = 50;  // nested brackets

int64_t number(const std::string& text) {
  int64_t out = 0;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

class Condition {
 public:
  Condition(const std::vector<std::string>& words, const std::vector<bool>& literal, bool patterns,
            ShellBudget& budget, const std::function<void(std::string)>& note)
      : words_(words), literal_(literal), patterns_(patterns), budget_(budget), note_(note) {}

  bool run() { return words_.empty() ? false : any(); }

 private:
  bool is(const char* text) const { return at_ < words_.size() && words_[at_] == text; }
  bool take(const char* text) {
    if (!is(text)) return false;
    ++at_;
    return true;
  }
  bool any() {
    bool out = every();
    while (take("||") || take("-o")) {
      const bool right = every();
      out = out || right;
    }
    return out;
  }
  bool every() {
    bool out = single();
    while (take("&&") || take("-a")) {
      const bool right = single();
      out = out && right;
    }
    return out;
  }
  bool single() {
    if (++depth_ > kDeepestTest || at_ >= words_.size()) return false;
    bool out = false;
    if (take("!")) {
      out = !single();
    } else if (take("(")) {
      out = any();
      (void)take(")");
    } else {
      out = primary();
    }
    --depth_;
    return out;
  }
  bool primary() {
    const std::string left = words_[at_++];
    const bool unary = left.size() == 2 && left[0] == '-' && at_ < words_.size() && !is("&&") && !is("||") &&
                       !is("-a") && !is("-o") && !is("=") && !is("==") && !is("!=");
    if (unary) {
      const std::string operand = words_[at_++];
      if (left == "-z") return operand.empty();
      if (left == "-n") return !operand.empty();
      if (left == "-v") return !operand.empty();
      note_("whether \"" + operand + "\" exists (" + left + ") is not looked up; it counts as missing");
      return false;
    }
    if (at_ >= words_.size()) return !left.empty();
    const std::string sign = words_[at_];
    if (sign == "&&" || sign == "||" || sign == "-a" || sign == "-o" || sign == ")") return !left.empty();
    ++at_;
    const std::string right = at_ < words_.size() ? words_[at_] : "";
    const bool literal = !patterns_ || (at_ < literal_.size() && literal_[at_]);
    ++at_;
    return compare(left, sign, right, literal);
  }
  bool compare(const std::string& left, const std::string& sign, const std::string& right,
               bool literal) const {
    if (sign == "=" || sign == "==" || sign == "!=")
      return (literal ? left == right : matches_shell_pattern(right, left, budget_)) == (sign != "!=");
    if (sign == "<") return left < right;
    if (sign == ">") return left > right;
    if (sign == "-eq") return number(left) == number(right);
    if (sign == "-ne") return number(left) != number(right);
    if (sign == "-lt") return number(left) < number(right);
    if (sign == "-le") return number(left) <= number(right);
    if (sign == "-gt") return number(left) > number(right);
    if (sign == "-ge") return number(left) >= number(right);
    note_("the condition \"" + sign + "\" is not evaluated and counts as false");
    return false;
  }

  const std::vector<std::string>& words_;
  const std::vector<bool>& literal_;
  bool patterns_;
  ShellBudget& budget_;
  const std::function<void(std::string)>& note_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

bool holds_shell_test(const std::vector<std::string>& words, const std::vector<bool>& literal, bool patterns,
                      ShellBudget& budget, const std::function<void(std::string)>& note) {
  return Condition(words, literal, patterns, budget, note).run();
}

}  // namespace shardscape
