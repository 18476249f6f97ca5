// Expansion of shell words (POSIX.1-2017, section 2.6, and bash's arrays): variables, their defaults, parts
// and replacements, arithmetic, command substitution, quotes and the split of unquoted results at spaces.
// Ranges such as "{0..3}" and lists such as "{a,b}" become words. File names are not matched, and "~" stays.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace shardscape {

struct ShellVariable {
  std::map<std::string, std::string> items;  // by index; a plain variable has the index "0"
  bool array = false;
};

// Thrown where a script takes more steps or longer texts than any launch needs.
struct ShellTooLong {};

// Steps and bytes that a script may still take.
class ShellBudget {
 public:
  void spend(size_t steps) {
    if (steps > left_) throw ShellTooLong{};
    left_ -= steps;
  }

 private:
  size_t left_ = 200'000'000;
};

struct ShellState {
  std::map<std::string, ShellVariable, std::less<>> variables;
  std::vector<std::string> arguments;  // $1, $2, ...
  std::string script = "script.sh";    // $0
  size_t option_sign = 0;              // of getopts: signs of the argument that are read
  ShellBudget budget = {};
};

// The value of an unset name is empty. Numbers above the last argument are unset.
const std::string* find_shell_value(const ShellState& state, std::string_view name);
void set_shell_value(ShellState& state, const std::string& name, std::string value);
// Indexes and values of an array, in the order of the indexes: numbers first.
std::vector<std::pair<std::string, std::string>> shell_items(ShellState& state, std::string_view name);

// The copy counts in the budget.
std::vector<std::string> copied_arguments(ShellState& state);

class ShellExpander {
 public:
  // run: output of a substituted command without its last line break. unset: called with each name that has
  // no value and no default.
  using Run = std::function<std::string(std::string_view command)>;
  using Unset = std::function<void(std::string_view name)>;
  ShellExpander(ShellState& state, Run run, Unset unset)
      : state_(state), run_(std::move(run)), unset_(std::move(unset)) {}

  // The fields of a word: none if it is an unquoted empty expansion, several if it holds spaces or "$@".
  std::vector<std::string> fields(std::string_view word);
  // The word as one text, as in assignments and tests.
  std::string text(std::string_view word);
  // The text of a here-document: quotes stay, variables are replaced.
  std::string document(std::string_view text);
  // The words of "( a b )" without the brackets; comments are skipped.
  std::vector<std::string> elements(std::string_view list);

 private:
  struct Piece;
  void part(std::string_view word, size_t& at, bool quoted, Piece& out);
  void dollar(std::string_view part, bool quoted, Piece& out);
  void braces(std::string_view inside, bool quoted, Piece& out);
  std::string changed(std::string_view now, std::string_view rest);
  std::vector<std::string> slice(std::vector<std::string> values, std::string_view rest);
  std::pair<int64_t, int64_t> bounds(std::string_view rest, size_t size);
  std::vector<std::string> range(std::string_view word);
  std::vector<std::string> listed(std::string_view word);
  void modified(const std::string& name, const std::string* found, std::string_view rest, bool count,
                bool quoted, Piece& out);
  void value(std::string_view text, bool quoted, Piece& out);
  void all(const std::vector<std::string>& values, bool quoted, bool joined, Piece& out);
  std::string plain(std::string_view name);

  ShellState& state_;
  Run run_;
  Unset unset_;
  int depth_ = 0;
};

// Whether the pattern ("*", "?" and "[a-z]") matches the whole text.
bool matches_shell_pattern(std::string_view pattern, std::string_view text, ShellBudget& budget);

// An arithmetic expression of whole numbers; names stand for variables, which are 0 if unset or no number.
// Assignments take effect. Division by zero gives 0.
int64_t shell_arithmetic(ShellState& state, std::string_view expression);

}  // namespace shardscape
