#include "launch/shell/shell_syntax.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <optional>

namespace shardscape {
namespace {

constexpr int kDeepestBlock = 100;  // nested blocks
constexpr int kDeepestPart = 200;   // nested quotes and expansions
constexpr size_t kLongestPlaceholder = 200;

struct Token {
  bool is_word = false;
  std::string text;  // a word, or an operator: ";" "\n" "&&" "<<"
  int line = 0;
};

struct SyntaxError {
  int line;
  std::string what, accepted;
};

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

bool starts_assignment(std::string_view word) {
  size_t at = 0;
  while (at < word.size() && (std::isalnum(static_cast<unsigned char>(word[at])) || word[at] == '_')) ++at;
  if (at == 0) return false;
  if (at < word.size() && word[at] == '[') {
    at = word.find(']', at);
    if (at == std::string_view::npos) return false;
    ++at;
  }
  if (at < word.size() && word[at] == '+') ++at;
  return at + 1 == word.size() && word[at] == '=';
}

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::vector<Token> run() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (is_space(c))
        ++at_;
      else if (c == '\\' && peek(1) == '\n')
        skip(2);
      else if (c == '\\' && peek(1) == '\r' && peek(2) == '\n')
        skip(3);
      else if (c == '#')
        at_ = std::min(text_.find('\n', at_), text_.size());
      else if (!(c == '(' && peek(1) == '(' && at_command_start() && arithmetic_command()) &&
               !operator_token())
        word();
    }
    put(false, "\n");
    return std::move(tokens_);
  }

 private:
  char peek(size_t ahead) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  void put(bool is_word, std::string text) { tokens_.push_back({is_word, std::move(text), line_}); }
  void skip(size_t count) {
    line_ += static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                         text_.begin() + static_cast<std::ptrdiff_t>(at_ + count), '\n'));
    at_ += count;
  }
  bool at_command_start() const {
    return tokens_.empty() || !tokens_.back().is_word || tokens_.back().text == "if" ||
           tokens_.back().text == "while" || tokens_.back().text == "for" || tokens_.back().text == "!";
  }

  // "(( expression ))" becomes the words "((" and the expression. false: "( (" of two subshells.
  bool arithmetic_command() {
    const size_t end = end_of_shell_part(text_, at_);
    if (end == std::string_view::npos) throw SyntaxError{line_, "\"((\" does not end", "\"))\""};
    if (text_[end - 2] != ')') {
      rescanned_ += end - at_;
      if (rescanned_ / text_.size() > kDeepestBlock)
        throw SyntaxError{line_, "blocks are nested more than " + std::to_string(kDeepestBlock) + " deep",
                          "fewer"};
      return false;
    }
    put(true, "((");
    put(true, std::string(text_.substr(at_ + 2, end - at_ - 4)));
    skip(end - at_);
    return true;
  }

  bool operator_token() {
    if (text_[at_] == '\n') {
      put(false, "\n");
      skip(1);
      for (const Pending& one : std::exchange(pending_, {})) here_document(one);
      return true;
    }
    // A digit before a redirection is a file descriptor: "2>&1".
    const size_t digits = std::isdigit(static_cast<unsigned char>(text_[at_])) ? 1 : 0;
    if (digits && peek(1) != '>' && peek(1) != '<') return false;
    for (const std::string_view known :
         {"<<<", "<<-", "&>>", ">>&", ";;&", "<<", ">>", ">&", ">|", "<&", "&>", "&&",
          "||",  "|&",  ";;",  ";&",  "<",   ">",  ";",  "&",  "|",  "(",  ")"}) {
      if (text_.substr(at_ + digits, known.size()) != known) continue;
      if (digits && known[0] != '<' && known[0] != '>') return false;
      // Process substitution is a word.
      if ((known == "<" || known == ">") && peek(digits + 1) == '(') return false;
      const std::string_view plain = known == "|&" ? "|" : known == ">|" ? ">" : known;
      put(false, std::string(digits ? "2" : "") + std::string(plain));
      at_ += digits + known.size();
      if (known == "<<" || known == "<<-") begin_here_document(known == "<<-");
      return true;
    }
    return false;
  }

  void word() {
    const int line = line_;
    std::string out;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\\' && peek(1) == '\n') {
        skip(2);
        continue;
      }
      if (is_space(c) || c == '\n' || c == ';' || c == '|' || c == ')') break;
      if (c == '&') break;
      if (c == '<' && out.ends_with('=') && placeholder(out)) continue;
      if ((c == '<' || c == '>') && peek(1) != '(') break;
      if (c == '(' && !starts_assignment(out) &&
          (out.empty() || std::string_view("?*+@!<>").find(out.back()) == std::string_view::npos))
        break;
      const size_t end = c == '\\' ? std::min(at_ + 2, text_.size()) : end_of_shell_part(text_, at_);
      if (end == std::string_view::npos)
        throw SyntaxError{line, std::string("\"") + c + "\" does not end", "a closing quote or bracket"};
      out += text_.substr(at_, end - at_);
      skip(end - at_);
    }
    if (out.empty())
      throw SyntaxError{line_, std::string("\"") + text_[at_] + "\" is out of place", "a command"};
    tokens_.push_back({true, std::move(out), line});
  }

  // "NAME=<your name>": templates of scripts mark what a person has to fill in. Taken as it stands.
  bool placeholder(std::string& out) {
    const std::string_view rest = text_.substr(at_, kLongestPlaceholder);
    const size_t end = rest.find_first_of(">\n");
    if (end == std::string_view::npos || rest[end] == '\n') return false;
    out += rest.substr(0, end + 1);
    at_ += end + 1;
    return true;
  }

  struct Pending {
    size_t token;  // of the document's text
    std::string end;
    bool indented;
  };
  void begin_here_document(bool indented) {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
    std::string end;
    while (at_ < text_.size() && !std::isspace(static_cast<unsigned char>(text_[at_])) && text_[at_] != ';' &&
           text_[at_] != '>' && text_[at_] != '|' && text_[at_] != ')')
      end += text_[at_++];
    // Quotes around the delimiter, which the sign keeps: nothing in the text is replaced.
    if (std::erase_if(end, [](char c) { return c == '\'' || c == '"' || c == '\\'; }) > 0)
      tokens_.back().text += '\'';
    put(true, "");
    pending_.push_back({tokens_.size() - 1, end, indented});
  }
  void here_document(const Pending& document) {
    std::string& out = tokens_[document.token].text;
    while (at_ < text_.size()) {
      const size_t end = std::min(text_.find('\n', at_), text_.size());
      std::string_view row = text_.substr(at_, end - at_);
      while (document.indented && row.starts_with('\t')) row.remove_prefix(1);
      at_ = std::min(end + 1, text_.size());
      ++line_;
      if (row == document.end) return;
      out += std::string(row) + "\n";
    }
  }

  std::string_view text_;
  size_t at_ = 0;
  size_t rescanned_ = 0;  // characters in brackets of subshells, once for each bracket around them
  int line_ = 1;
  std::vector<Token> tokens_;
  std::vector<Pending> pending_;
};

class Parser {
 public:
  explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  ShellList run() {
    ShellList out = list({});
    if (at_ < tokens_.size()) fail("\"" + shown(tokens_[at_]) + "\" is out of place", "a command");
    return out;
  }

 private:
  static std::string shown(const Token& token) { return token.text == "\n" ? "end of line" : token.text; }
  [[noreturn]] void fail(std::string what, std::string accepted) const {
    const int line = tokens_.empty() ? 1 : tokens_[std::min(at_, tokens_.size() - 1)].line;
    throw SyntaxError{line, std::move(what), std::move(accepted)};
  }
  bool is(std::string_view text, bool word) const {
    return at_ < tokens_.size() && tokens_[at_].is_word == word && tokens_[at_].text == text;
  }
  bool take(std::string_view text, bool word) { return is(text, word) && ++at_ > 0; }
  void expect(std::string_view text, bool word, int opened) {
    if (!take(text, word))
      fail("the block that begins in line " + std::to_string(opened) + " does not end",
           "\"" + std::string(text) + "\"");
  }
  void skip_breaks() {
    while (take("\n", false) || take(";", false)) {}
  }

  // Commands up to one of the words in `ends`, or ")" or ";;" or the end of the script.
  ShellList list(const std::vector<std::string_view>& ends) {
    if (++depth_ > kDeepestBlock)
      fail("blocks are nested more than " + std::to_string(kDeepestBlock) + " deep", "fewer");
    ShellList out;
    ShellJoin join = ShellJoin::Always;
    for (skip_breaks(); at_ < tokens_.size(); skip_breaks()) {
      const Token& token = tokens_[at_];
      if (token.is_word && std::find(ends.begin(), ends.end(), token.text) != ends.end()) break;
      if (!token.is_word && (token.text == ")" || is_case_end(token.text))) break;
      ShellNode node = command();
      node.join = join;
      join = take("&&", false)   ? ShellJoin::IfSucceeded
             : take("||", false) ? ShellJoin::IfFailed
             : take("|", false)  ? ShellJoin::Pipe
                                 : ShellJoin::Always;
      if (join == ShellJoin::Always) (void)take("&", false);
      out.push_back(std::move(node));
    }
    --depth_;
    return out;
  }

  static bool is_case_end(std::string_view text) { return text == ";;" || text == ";&" || text == ";;&"; }

  ShellNode command() {
    ShellNode node;
    node.line = tokens_[at_].line;
    while (take("!", true)) node.negated = !node.negated;
    if (take("if", true))
      conditional(node);
    else if (take("case", true))
      choice(node);
    else if (take("for", true) || take("select", true))
      loop(node);
    else if (is("while", true) || is("until", true))
      repeat(node);
    else if (take("{", true))
      group(node, "}", true);
    else if (take("(", false))
      group(node, ")", false);
    else if (is_function())
      function(node);
    else
      simple(node);
    if (node.kind != ShellNodeKind::Command) redirections(node);
    return node;
  }

  void conditional(ShellNode& node) {
    node.kind = ShellNodeKind::If;
    do {
      ShellBranch branch;
      branch.condition = list({"then"});
      expect("then", true, node.line);
      branch.body = list({"elif", "else", "fi"});
      node.branches.push_back(std::move(branch));
    } while (take("elif", true));
    if (take("else", true)) node.branches.push_back({{}, {}, list({"fi"})});
    expect("fi", true, node.line);
  }

  void choice(ShellNode& node) {
    node.kind = ShellNodeKind::Case;
    node.words.push_back(word());
    skip_breaks();
    expect("in", true, node.line);
    for (skip_breaks(); !is("esac", true); skip_breaks()) {
      if (at_ >= tokens_.size())
        fail("the case of line " + std::to_string(node.line) + " does not end", "\"esac\"");
      ShellBranch branch;
      (void)take("(", false);
      do branch.patterns.push_back(word());
      while (take("|", false));
      expect(")", false, node.line);
      branch.body = list({"esac"});
      branch.end = take(";&", false)    ? ShellCaseEnd::RunNext
                   : take(";;&", false) ? ShellCaseEnd::TestNext
                                        : ShellCaseEnd::Leave;
      (void)take(";;", false);
      node.branches.push_back(std::move(branch));
    }
    ++at_;
  }

  void loop(ShellNode& node) {
    node.kind = ShellNodeKind::For;
    if (take("((", true)) {  // "for ((i = 0; i < n; i++))"
      node.words.push_back(word());
      skip_breaks();
      return body_of_loop(node, {});
    }
    node.name = word().text;
    skip_breaks();
    if (take("in", true)) {
      while (at_ < tokens_.size() && tokens_[at_].is_word) node.words.push_back(word());
    } else {
      node.words.push_back({"\"$@\"", node.line});
    }
    skip_breaks();
    body_of_loop(node, {});
  }

  void repeat(ShellNode& node) {
    node.kind = ShellNodeKind::While;
    node.negated = tokens_[at_++].text == "until";
    body_of_loop(node, list({"do"}));
  }

  void body_of_loop(ShellNode& node, ShellList condition) {
    expect("do", true, node.line);
    node.branches.push_back({std::move(condition), {}, list({"done"})});
    expect("done", true, node.line);
  }

  void group(ShellNode& node, std::string_view end, bool word) {
    node.kind = ShellNodeKind::Group;
    node.subshell = !word;
    node.branches.push_back({{}, {}, list({"}"})});
    expect(end, word, node.line);
  }

  bool is_function() const {
    if (is("function", true)) return true;
    return at_ + 2 < tokens_.size() && tokens_[at_].is_word && !tokens_[at_ + 1].is_word &&
           tokens_[at_ + 1].text == "(" && !tokens_[at_ + 2].is_word && tokens_[at_ + 2].text == ")";
  }
  void function(ShellNode& node) {
    (void)take("function", true);
    node.kind = ShellNodeKind::Function;
    node.name = word().text;
    if (take("(", false)) expect(")", false, node.line);
    skip_breaks();
    ShellNode block;
    block.line = node.line;
    if (take("{", true))
      group(block, "}", true);
    else if (take("(", false))
      group(block, ")", false);
    else
      fail("a function needs a block", "\"{\"");
    node.branches.push_back({{}, {}, {std::move(block)}});
  }

  ShellWord word() {
    if (at_ >= tokens_.size() || !tokens_[at_].is_word) fail("a word is missing", "a word");
    const Token& token = tokens_[at_++];
    return {token.text, token.line};
  }

  static bool is_redirection(const Token& token) {
    return !token.is_word && token.text.find_first_of("<>") != std::string::npos;
  }
  void redirections(ShellNode& node) {
    while (at_ < tokens_.size() && is_redirection(tokens_[at_])) redirection(node);
  }
  void redirection(ShellNode& node) {
    const std::string sign = tokens_[at_++].text;
    const ShellWord target = word();
    if (sign.starts_with("<<") && sign != "<<<") {
      node.document = target.text;
      node.verbatim = sign.ends_with('\'');
    } else if (sign == ">" || sign == ">>") {
      node.output = target;
    }
  }

  // A test's operators are words up to "]]".
  void simple(ShellNode& node) {
    const bool test = is("[[", true);
    while (at_ < tokens_.size()) {
      const Token& token = tokens_[at_];
      if (test && token.text != "\n" && !token.is_word) {
        node.words.push_back({token.text, token.line});
        ++at_;
      } else if (test && token.text == "\n") {
        ++at_;
      } else if (is_redirection(token)) {
        redirection(node);
      } else if (token.is_word) {
        node.words.push_back(word());
        if (test && node.words.back().text == "]]") break;
      } else {
        break;
      }
    }
    if (node.words.empty() && node.document.empty() && node.output.text.empty())
      fail("\"" + (at_ < tokens_.size() ? shown(tokens_[at_]) : "end of file") + "\" is out of place",
           "a command");
  }

  std::vector<Token> tokens_;
  size_t at_ = 0;
  int depth_ = 0;
};

size_t end_of_part(std::string_view text, size_t at, int depth);

// Position behind the bracket that closes the one before `at`; quotes inside count.
size_t end_of_bracket(std::string_view text, size_t at, char open, char close, int outer) {
  for (int depth = 1; at < text.size();) {
    if (text[at] == '\\') {
      at += 2;
      continue;
    }
    if (open == '(' && text[at] == '#' && std::isspace(static_cast<unsigned char>(text[at - 1]))) {
      at = text.find('\n', at);  // a comment, which may hold single quotes
      continue;
    }
    if (text[at] == open) ++depth;
    if (text[at] == close && --depth == 0) return at + 1;
    if (text[at] == '\'' || text[at] == '"' || text[at] == '`' || text[at] == '$') {
      at = end_of_part(text, at, outer + 1);
      if (at == std::string_view::npos) return at;
    } else {
      ++at;
    }
  }
  return std::string_view::npos;
}

size_t end_of_part(std::string_view text, size_t at, int depth) {
  if (depth > kDeepestPart) return std::string_view::npos;
  const char c = text[at];
  if (c == '\'') {
    const size_t end = text.find('\'', at + 1);
    return end == std::string_view::npos ? end : end + 1;
  }
  if (c == '"' || c == '`') {
    for (size_t i = at + 1; i < text.size();) {
      if (text[i] == '\\')
        i += 2;
      else if (text[i] == c)
        return i + 1;
      else if (text[i] == '$' && c == '"') {
        i = end_of_part(text, i, depth + 1);
        if (i == std::string_view::npos) return i;
      } else
        ++i;
    }
    return std::string_view::npos;
  }
  if (c == '(') return end_of_bracket(text, at + 1, '(', ')', depth);
  if (c != '$' || at + 1 >= text.size()) return at + 1;
  if (text[at + 1] == '(') return end_of_bracket(text, at + 2, '(', ')', depth);
  if (text[at + 1] == '{') return end_of_bracket(text, at + 2, '{', '}', depth);
  return at + 1;
}

}  // namespace

size_t end_of_shell_part(std::string_view text, size_t at) { return end_of_part(text, at, 0); }

std::variant<ShellList, Problem> parse_shell(std::string_view script) {
  try {
    return Parser(Scanner(script).run()).run();
  } catch (const SyntaxError& error) {
    return Problem(ProblemCode::LaunchSyntax, "line " + std::to_string(error.line), error.what,
                   error.accepted);
  }
}

}  // namespace shardscape
