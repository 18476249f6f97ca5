// Values that Python source states as literals, and arithmetic on them: 2**16, dict(size=8), [1, SEQ_LEN],
// data["seq_len"]. Nothing is executed: calls other than dict(), list(), tuple() and int() are not followed.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace shardscape {

struct PythonValue {
  enum class Kind { None, Bool, Number, Text, List, Dict, Computed };
  Kind kind = Kind::None;
  double number = 0;                    // also of Bool: 0 or 1
  bool whole = false;                   // an int
  std::string text;                     // of Text; of Computed: its source
  std::vector<std::string> names = {};  // of the items of a Dict
  std::vector<PythonValue> items = {};
  int line = 0;
  int depth = 0;    // levels of items
  size_t size = 1;  // values inside, and their texts: what a copy costs
};

class PythonSource {
 public:
  explicit PythonSource(std::string_view text) : text_(text) {}

  bool at_end() const { return at_ >= text_.size(); }
  char sign(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  int line();  // of the position, from 1
  // Over spaces, comments and continued lines; inside brackets over ends of lines, too.
  void skip_blanks(bool in_brackets);
  // To the end of the line, after brackets and texts that go on behind it. Returns what it has skipped.
  std::string skip_statement();
  std::string take_name();  // empty: no name starts here
  bool take(std::string_view word);
  size_t position() const { return at_; }
  void go_back(size_t position) { at_ = position; }
  std::string_view between(size_t begin, size_t end) const { return text_.substr(begin, end - begin); }

  // The value at the position. An expression that is not followed has the kind Computed. Throws
  // DocumentError: too deep, or too large.
  PythonValue value(const std::map<std::string, PythonValue>& variables, bool in_brackets = false,
                    int depth = 0);

 private:
  struct Expression;
  void skip_text();  // from the quote to behind its end
  void skip_until_end_of_value(bool in_brackets);

  std::string_view text_;
  size_t at_ = 0;
  size_t counted_ = 0;  // position up to which lines are counted
  int lines_ = 1;
  size_t cost_ = 0;
};

}  // namespace shardscape
