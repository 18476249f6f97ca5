#include <cctype>

#include "model/block.h"

namespace shardscape {
namespace {

// A cursor over one line. A missing token yields a Problem with its column.
class LineParser {
 public:
  LineParser(const std::string& text, const SourcePlace& place) : text_(text), place_(place) {}

  Result<OpLine> parse() {
    OpLine line;
    line.place = place_;
    if (!name(line.output)) return problem("a name for the result, as in `y = einsum[bsd,df->bsf](x, w)`");
    if (!take('=')) return problem("'=' after the result's name");
    if (!name(line.callee, &line.callee_at)) return problem("the name of an op or a block after '='");
    if (take('[')) {
      line.spec_at = static_cast<int>(at_);
      const size_t end = text_.find(']', at_);
      if (end == std::string::npos) return problem("']' that closes the letters");
      line.spec = text_.substr(at_, end - at_);
      at_ = end + 1;
    }
    if (!take('(')) return problem("'(' before the arguments");
    if (!take(')')) {
      if (peek() != ';' && !names(line.args, &line.args_at))
        return problem("the name of an input, parameter or earlier result");
      if (take(';') && !names(line.options)) return problem("the name of an option of the block");
      if (!take(')')) return problem("',' or ')' after an argument");
    }
    while (peek() != '\0')
      if (!condition(line))
        return problem("`if` or `unless` and the name of an option, or the end of the line");
    return line;
  }

 private:
  char peek() {
    skip();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  // Reads names between commas.
  bool names(std::vector<std::string>& out, std::vector<int>* places = nullptr) {
    do {
      int at = 0;
      if (!name(out.emplace_back(), &at)) return false;
      if (places) places->push_back(at);
    } while (take(','));
    return true;
  }
  bool condition(OpLine& line) {
    std::string word, option;
    int at = 0;
    if (!name(word) || (word != "if" && word != "unless") || !name(option, &at)) return false;
    line.conditions.push_back({option, word == "if", at});
    return true;
  }
  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool take(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  // at: receives the characters before the name.
  bool name(std::string& out, int* at = nullptr) {
    skip();
    const size_t begin = at_;
    if (at) *at = static_cast<int>(begin);
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_'))
      ++at_;
    out = text_.substr(begin, at_ - begin);
    return at_ > begin && !std::isdigit(static_cast<unsigned char>(out[0]));
  }
  Problem problem(const std::string& expected) const {
    return {ProblemCode::OpLineSyntax, place_text(place_.further(static_cast<int>(at_))),
            "`" + text_ + "` cannot be read at column " + std::to_string(at_ + 1), expected};
  }

  const std::string& text_;
  SourcePlace place_;
  size_t at_ = 0;
};

}  // namespace

Result<OpLine> parse_op_line(const std::string& text, const SourcePlace& place) {
  return LineParser(text, place).parse();
}

}  // namespace shardscape
