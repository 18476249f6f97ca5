#include "launch/shell/shell_script.h"

#include <algorithm>
#include <cctype>
#include <deque>
#include <set>
#include <utility>

#include "base/shown_text.h"
#include "launch/shell/shell_command.h"
#include "launch/shell/shell_options.h"
#include "launch/shell/shell_syntax.h"
#include "launch/shell/shell_test.h"
#include "launch/shell/shell_words.h"

namespace shardscape {
namespace {

constexpr size_t kCommandSteps = 2'000;  // of the budget: 100,000 commands
constexpr size_t kParseSteps = 64;       // per byte of a text that the script composes
constexpr int kDeepestCall = 50;
constexpr int kDeepestList = 1'000;
constexpr size_t kLongestNote = 60;
constexpr const char* kScript = "./script.sh";  // the name of the script for itself
constexpr int64_t kMostWaits = 100;             // turns of a loop that asks the running machine

enum class Flow { Next, Break, Continue, Return };
using Locals = std::map<std::string, std::optional<ShellVariable>>;

class Interpreter {
 public:
  explicit Interpreter(const ShellInput& input) : input_(input) {
    for (const auto& [name, value] : input.environment) {
      set_shell_value(state_, name, value);
      exported_.insert(name);
    }
    state_.arguments = input.arguments;
    set_shell_value(state_, "BASH_SOURCE", kScript);
  }

  std::optional<Problem> run(std::string_view text) {
    auto parsed = parse_shell(text);
    if (auto* problem = std::get_if<Problem>(&parsed)) return std::move(*problem);
    try {
      (void)list(kept(std::move(std::get<ShellList>(parsed))));
    } catch (const ShellTooLong&) {
      return Problem(ProblemCode::LaunchSyntax, "line " + std::to_string(line_),
                     "the script runs for too long, or its texts grow too long", "a script whose loops end");
    }
    return std::nullopt;
  }

  ShellScript result() {
    for (const auto& [name, variable] : state_.variables)
      if (!variable.array)
        if (const auto item = variable.items.find("0"); item != variable.items.end())
          out_.variables[name] = item->second;
    return std::move(out_);
  }

 private:
  void note(std::string text) {
    if (noted_.insert(text).second) out_.notes.push_back({line_, std::move(text)});
  }

  // Functions refer to their blocks, so that parsed texts stay.
  const ShellList& kept(ShellList nodes) { return parsed_.emplace_back(std::move(nodes)); }

  ShellExpander expander() {
    return ShellExpander(
        state_, [this](std::string_view command) { return substituted(command); },
        [this](std::string_view name) {
          const std::string shown = "$" + std::string(name);
          note(shown + " has no value here and counts as empty");
        });
  }

  Flow list(const ShellList& nodes) {
    if (++lists_ > kDeepestList) throw ShellTooLong{};
    const Flow flow = each_of(nodes);
    --lists_;
    return flow;
  }

  Flow each_of(const ShellList& nodes) {
    bool succeeded = true;
    for (const ShellNode& node : nodes) {
      if ((node.join == ShellJoin::IfSucceeded && !succeeded) ||
          (node.join == ShellJoin::IfFailed && succeeded))
        continue;
      state_.budget.spend(kCommandSteps);
      line_ = node.line;
      succeeded_before_ = succeeded;
      succeeded_ = true;
      const Flow flow = execute(node);
      succeeded = succeeded_ != node.negated;
      if (flow != Flow::Next) return flow;
    }
    succeeded_ = succeeded;
    return Flow::Next;
  }

  Flow execute(const ShellNode& node) {
    switch (node.kind) {
      case ShellNodeKind::Command: return command(node);
      case ShellNodeKind::Group: return node.subshell ? subshell(node) : list(node.branches[0].body);
      case ShellNodeKind::Function: functions_[node.name] = &node.branches[0].body; return Flow::Next;
      case ShellNodeKind::If:
        for (const ShellBranch& branch : node.branches) {
          if (!branch.condition.empty() && !holds(branch.condition)) continue;
          return list(branch.body);
        }
        succeeded_ = true;
        return Flow::Next;
      case ShellNodeKind::Case: return choose(node);
      case ShellNodeKind::For: return node.name.empty() ? count(node) : each(node);
      case ShellNodeKind::While: return while_loop(node);
    }
    return Flow::Next;
  }

  using Variables = std::map<std::string, ShellVariable, std::less<>>;
  // Copying variables takes memory.
  const Variables& copied(const Variables& variables) {
    for (const auto& [name, variable] : variables)
      for (const auto& [index, value] : variable.items) state_.budget.spend(name.size() + value.size() + 1);
    return variables;
  }

  Flow subshell(const ShellNode& node) {
    Variables variables = copied(state_.variables);
    std::vector<std::string> arguments = copied_arguments(state_);
    const Flow flow = list(node.branches[0].body);
    state_.variables = std::move(variables);
    state_.arguments = std::move(arguments);
    return flow;
  }

  // A loop that waits for the machine (a file, input) is left.
  Flow while_loop(const ShellNode& node) {
    const int64_t before = unknown_;
    int64_t turns = 0;
    return repeat(node.branches[0].body, [&] {
      const int64_t asked = unknown_;
      const bool more = holds(node.branches[0].condition) != node.negated;
      const bool waits = unknown_ > asked || (unknown_ > before && ++turns > kMostWaits);
      if (more && waits) note("the loop depends on the running machine and is left");
      return more && !waits;
    });
  }

  // Runs the body while the condition holds. Break and continue end here.
  template <typename Condition>
  Flow repeat(const ShellList& body, const Condition& condition) {
    ++loops_;
    Flow flow = Flow::Next;
    while ((flow == Flow::Next || flow == Flow::Continue) && condition()) flow = list(body);
    --loops_;
    return flow == Flow::Return ? flow : Flow::Next;
  }

  Flow each(const ShellNode& node) {
    std::vector<std::string> values;
    for (const ShellWord& word : node.words)
      for (std::string& value : expander().fields(word.text)) values.push_back(std::move(value));
    size_t next = 0;
    return repeat(node.branches[0].body, [&] {
      if (next == values.size()) return false;
      set_shell_value(state_, node.name, values[next++]);
      return true;
    });
  }

  // "for ((begin; condition; step))"
  Flow count(const ShellNode& node) {
    const std::string text = expander().text(node.words[0].text);
    const size_t first = std::min(text.find(';'), text.size());
    const size_t second = std::min(text.find(';', first + 1), text.size());
    (void)shell_arithmetic(state_, std::string_view(text).substr(0, first));
    bool begun = false;
    return repeat(node.branches[0].body, [&] {
      state_.budget.spend(kCommandSteps + text.size());
      if (begun && second < text.size())
        (void)shell_arithmetic(state_, std::string_view(text).substr(second + 1));
      begun = true;
      return first < text.size() &&
             shell_arithmetic(state_, std::string_view(text).substr(first + 1, second - first - 1)) != 0;
    });
  }

  bool holds(const ShellList& condition) {
    not_executed_.clear();
    (void)list(condition);
    if (!not_executed_.empty())
      unknown("whether `" + not_executed_ + "` succeeds is not known; it counts as true");
    not_executed_.clear();
    return succeeded_;
  }
  // An answer that only a running machine knows.
  void unknown(std::string text) {
    ++unknown_;
    note(std::move(text));
  }

  Flow choose(const ShellNode& node) {
    const std::string subject = expander().text(node.words[0].text);
    bool runs = false;
    for (const ShellBranch& branch : node.branches) {
      for (const ShellWord& pattern : branch.patterns)
        runs = runs || matches_shell_pattern(expander().text(pattern.text), subject, state_.budget);
      if (!runs) continue;
      const Flow flow = list(branch.body);
      if (flow != Flow::Next || branch.end == ShellCaseEnd::Leave) return flow;
      runs = branch.end == ShellCaseEnd::RunNext;
    }
    return Flow::Next;
  }

  // Performs the assignment; false: the word is none.
  bool assign(const ShellWord& word) {
    const std::string_view text = word.text;
    size_t at = 0;
    while (at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) || text[at] == '_')) ++at;
    if (at == 0 || std::isdigit(static_cast<unsigned char>(text[0]))) return false;
    const std::string name(text.substr(0, at));
    std::string index = "0";
    const bool indexed = at < text.size() && text[at] == '[';
    if (indexed) {
      const size_t end = text.find(']', at);
      if (end == std::string_view::npos) return false;
      index = expander().text(text.substr(at + 1, end - at - 1));
      at = end + 1;
    }
    const bool append = at < text.size() && text[at] == '+';
    at += append;
    if (at >= text.size() || text[at] != '=') return false;
    const std::string_view raw = text.substr(at + 1);
    ShellVariable& variable = state_.variables[name];
    if (raw.starts_with('(') && raw.ends_with(')')) {
      std::vector<std::string> values = expander().elements(raw.substr(1, raw.size() - 2));
      if (!append) state_.variables[name].items.clear();
      ShellVariable& list = state_.variables[name];
      list.array = true;
      for (std::string& value : values) add_element(list, std::move(value));
      return true;
    }
    std::string value = expander().text(raw);
    variable.array = variable.array || indexed;
    std::string& item = variable.items[index];
    state_.budget.spend(value.size());
    if (append)
      item += value;
    else
      item = std::move(value);
    return true;
  }

  // "[name]=value" of an associative array, or the next element.
  static void add_element(ShellVariable& list, std::string value) {
    const size_t end = value.starts_with('[') ? value.find("]=") : std::string::npos;
    if (end != std::string::npos) {
      list.items[value.substr(1, end - 1)] = value.substr(end + 2);
      return;
    }
    list.items[std::to_string(list.items.size())] = std::move(value);
  }

  void remember(const std::string& name, Locals& in) {
    if (in.contains(name)) return;
    const auto found = state_.variables.find(name);
    if (found == state_.variables.end())
      in[name] = std::nullopt;
    else
      in[name] = copied({{name, found->second}}).begin()->second;
  }
  void restore(Locals& from) {
    for (auto& [name, variable] : from)
      if (variable)
        state_.variables[name] = std::move(*variable);
      else
        state_.variables.erase(name);
  }

  // "export A=1", "local A", "declare -x A".
  bool declares(const std::string& command, const ShellWord& word) {
    const std::string name = shell_assigned_name(word.text);
    const bool local = command == "local" || command == "declare" || command == "typeset";
    if (!name.empty() && local && !locals_.empty()) remember(name, locals_.back());
    if (!name.empty() && command == "export") exported_.insert(name);
    if (assign(word)) return true;
    if (local && !locals_.empty() && name == word.text) state_.variables.erase(name);
    return false;
  }

  Flow command(const ShellNode& node) {
    size_t first = 0;
    Locals before;  // assignments in front of a command end with it
    for (; first < node.words.size(); ++first) {
      Locals one;
      const std::string name = shell_assigned_name(node.words[first].text);
      if (!name.empty() && node.words.size() > 1) remember(name, one);
      if (!assign(node.words[first])) break;
      before.merge(one);
    }
    if (first == node.words.size()) before.clear();
    if (before.empty()) return command_words(node, first);
    std::vector<std::string> exported;
    for (const auto& [name, variable] : before)
      if (exported_.insert(name).second) exported.push_back(name);
    const Flow flow = command_words(node, first);
    restore(before);
    for (const std::string& name : exported) exported_.erase(name);
    return flow;
  }

  Flow command_words(const ShellNode& node, size_t first) {
    if (first < node.words.size() && (node.words[first].text == "[[" || node.words[first].text == "(("))
      return test(node, first);
    std::vector<std::string> words;
    for (size_t i = first; i < node.words.size(); ++i) {
      if (!words.empty() && is_shell_declaration(words[0]) && declares(words[0], node.words[i])) continue;
      for (std::string& field : expander().fields(node.words[i].text)) words.push_back(std::move(field));
    }
    if (!node.document.empty() && !node.output.text.empty())
      out_.files[expander().text(node.output.text)] = document_of(node);
    if (words.empty()) return Flow::Next;
    const bool shell = words[0] == "sbatch" || words[0] == "bash" || words[0] == "sh";
    if (shell && !node.document.empty()) return nested(document_of(node), node.line);
    if (words[0] == "read" && !node.document.empty() && reads(words, document_of(node))) return Flow::Next;
    return run_command(std::move(words), node.line);
  }

  std::string document_of(const ShellNode& node) {
    return node.verbatim ? node.document : expander().document(node.document);
  }

  // "read NAME" of a here-document; false: its options are not known.
  bool reads(const std::vector<std::string>& words, const std::string& document) {
    const auto values = shell_read(words, document);
    if (!values) return false;
    for (const auto& [name, value] : *values) {
      state_.budget.spend(value.size());
      set_shell_value(state_, name, value);
    }
    return true;
  }

  Flow test(const ShellNode& node, size_t first) {
    if (node.words[first].text == "((") {
      succeeded_ = shell_arithmetic(state_, expander().text(node.words[first + 1].text)) != 0;
      return Flow::Next;
    }
    std::vector<std::string> words;
    std::vector<bool> literal;
    for (size_t i = first + 1; i < node.words.size() && node.words[i].text != "]]"; ++i) {
      words.push_back(expander().text(node.words[i].text));
      literal.push_back(!has_shell_pattern(node.words[i].text));
    }
    succeeded_ = holds_shell_test(words, literal, true, state_.budget,
                                  [this](std::string text) { unknown(std::move(text)); });
    return Flow::Next;
  }

  Flow run_command(std::vector<std::string> words, int line) {
    const std::string name = words[0];
    if (name == "[" || name == "test") {
      std::vector<std::string> inside(words.begin() + 1, words.end());
      if (name == "[" && !inside.empty() && inside.back() == "]") inside.pop_back();
      succeeded_ = holds_shell_test(inside, std::vector<bool>(inside.size(), true), false, state_.budget,
                                    [this](std::string text) { unknown(std::move(text)); });
      return Flow::Next;
    }
    if (name == "exit") {  // often behind a question that is not answered here, such as whether a file exists
      note("\"exit\" is not followed");
      return loops_ > 0 ? Flow::Break : Flow::Next;
    }
    if (name == "return") {
      succeeded_ = words.size() > 1 ? shell_arithmetic(state_, words[1]) == 0 : succeeded_before_;
      return Flow::Return;
    }
    if (name == "break") return Flow::Break;
    if (name == "continue") return Flow::Continue;
    if (name == "false") succeeded_ = false;
    if (name == "shift") return shift(words);
    if (name == "getopts") {
      succeeded_ = next_shell_option(state_, words);
      return Flow::Next;
    }
    if (name == "unset") {
      for (size_t i = 1; i < words.size(); ++i) state_.variables.erase(words[i]);
    } else if (name == "set" && words.size() > 1 && words[1] == "--") {
      state_.arguments.assign(words.begin() + 2, words.end());
    } else if (name == "let") {
      for (size_t i = 1; i < words.size(); ++i) (void)shell_arithmetic(state_, words[i]);
    } else if (name == "eval") {
      std::string text;
      for (size_t i = 1; i < words.size(); ++i) text += words[i] + " ";
      return nested(text, line);
    } else if (name == "source" || name == ".") {
      return words.size() > 1 ? source(words[1]) : Flow::Next;
    } else if (const auto function = functions_.find(name); function != functions_.end()) {
      return call(*function->second, std::move(words));
    } else if (name == "printf" && (words.size() < 2 || words[1] != "-v")) {
      // Prints to the terminal.
    } else if (const auto printed = name == "printf" ? shell_printf(words, 3) : std::nullopt) {
      state_.budget.spend(printed->size());
      set_shell_value(state_, words[2], *printed);
    } else if (reads_shell_input(words)) {
      unknown("`" + shortened(joined(words)) + "` is not executed; its variables stay");
    } else if (!is_shell_declaration(name) && name != "false" && !is_silent_command(name)) {
      const std::string inner = shell_text_of(words);
      if (const size_t script = shell_script_of(words); inner.empty() && script < words.size()) {
        bool found = false;
        const Flow flow = child(words, script, found);
        if (found) return flow;
      }
      not_executed_ = shortened(joined(words));
      out_.commands.push_back({std::move(words), line});
      if (!inner.empty()) return nested(inner, line);
    }
    return Flow::Next;
  }

  static std::string joined(const std::vector<std::string>& words) {
    std::string out;
    for (const std::string& word : words)
      if (out.size() <= kLongestNote) out += (out.empty() ? "" : " ") + word.substr(0, kLongestNote + 1);
    return out;
  }

  // Another script has its own variables: those that are exported.
  Flow child(const std::vector<std::string>& words, size_t script, bool& found) {
    const auto text = input_.source ? input_.source(words[script]) : std::nullopt;
    if (!text) {
      note("\"" + shortened(words[script]) + "\" is not read");
      return Flow::Next;
    }
    found = true;
    ShellState state;
    state.script = words[script];
    state.arguments.assign(words.begin() + static_cast<std::ptrdiff_t>(script) + 1, words.end());
    for (const auto& [name, variable] : copied(state_.variables))
      if (exported_.contains(name)) state.variables[name] = variable;
    set_shell_value(state, "BASH_SOURCE", kScript);
    state.budget = state_.budget;
    std::swap(state_, state);
    auto functions = std::exchange(functions_, {});
    (void)source_text(words[script], *text);
    state.budget = state_.budget;
    std::swap(state_, state);
    functions_ = std::move(functions);
    return Flow::Next;
  }

  Flow shift(const std::vector<std::string>& words) {
    const int64_t count = words.size() > 1 ? shell_arithmetic(state_, words[1]) : 1;
    auto& arguments = state_.arguments;
    state_.budget.spend(arguments.size());
    succeeded_ = count >= 0 && static_cast<size_t>(count) <= arguments.size();
    if (succeeded_)
      arguments.erase(arguments.begin(), arguments.begin() + static_cast<std::ptrdiff_t>(count));
    return Flow::Next;
  }

  Flow nested(const std::string& text, int line) {
    state_.budget.spend(text.size() * kParseSteps);
    auto parsed = parse_shell(text);
    if (const auto* problem = std::get_if<Problem>(&parsed)) {
      note("the text \"" + shortened(text) + "\" is not read: " + problem->what);
      return Flow::Next;
    }
    for (ShellNode& node : std::get<ShellList>(parsed)) node.line = line;
    return deeper(kept(std::move(std::get<ShellList>(parsed))));
  }

  Flow source(const std::string& path) {
    const auto text = input_.source ? input_.source(path) : std::nullopt;
    if (!text) {
      note("\"" + shortened(path) + "\" is not read; pass its variables if they matter");
      return Flow::Next;
    }
    return source_text(path, *text);
  }

  Flow source_text(const std::string& path, const std::string& text) {
    state_.budget.spend(text.size() * kParseSteps);
    auto parsed = parse_shell(text);
    if (const auto* problem = std::get_if<Problem>(&parsed)) {
      note(shortened(path) + ", " + problem->where + ": " + problem->what);
      return Flow::Next;
    }
    const Flow flow = deeper(kept(std::move(std::get<ShellList>(parsed))));
    return flow == Flow::Return ? Flow::Next : flow;
  }

  Flow call(const ShellList& body, std::vector<std::string> words) {
    std::vector<std::string> arguments(words.begin() + 1, words.end());
    std::swap(state_.arguments, arguments);
    locals_.emplace_back();
    (void)deeper(body);
    restore(locals_.back());
    locals_.pop_back();
    std::swap(state_.arguments, arguments);
    return Flow::Next;
  }

  Flow deeper(const ShellList& nodes) {
    if (depth_ >= kDeepestCall) throw ShellTooLong{};
    ++depth_;
    const Flow flow = list(nodes);
    --depth_;
    return flow;
  }

  // The output of commands that depend on words alone; others are not executed.
  std::string substituted(std::string_view command) {
    state_.budget.spend(command.size() * kParseSteps);
    auto parsed = parse_shell(command);
    const auto* nodes = std::get_if<ShellList>(&parsed);
    if (nodes && !nodes->empty()) {
      const ShellNode& last = nodes->back();
      // "cd FOLDER && pwd": folders of the script count as ".".
      if (last.kind == ShellNodeKind::Command && !last.words.empty() && last.words[0].text == "pwd")
        return ".";
      Locals before;  // assignments in the substitution end with it
      std::optional<std::string> known;
      if (last.kind == ShellNodeKind::Command && assigns(*nodes, before)) known = output_of(last);
      restore(before);
      if (known) return *known;
    }
    note("`" + shortened(command) + "` is not executed and counts as empty");
    return {};
  }

  // Performs the assignments in front of the last command; false: other commands stand there.
  bool assigns(const ShellList& nodes, Locals& before) {
    for (size_t i = 0; i + 1 < nodes.size(); ++i)
      for (const ShellWord& word : nodes[i].words) {
        remember(shell_assigned_name(word.text), before);
        if (nodes[i].kind != ShellNodeKind::Command || !assign(word)) return false;
      }
    return nodes.size() == 1 || nodes.back().join == ShellJoin::Always;
  }

  std::optional<std::string> output_of(const ShellNode& node) {
    std::vector<std::string> words;
    for (const ShellWord& word : node.words)
      for (std::string& field : expander().fields(word.text)) words.push_back(std::move(field));
    if (words.empty()) return std::string();
    if (words[0] == "cat" && words.size() == 1 && !node.document.empty()) {
      std::string text = document_of(node);
      text.erase(text.find_last_not_of('\n') + 1);
      return text;
    }
    return shell_output(state_, words);
  }

  const ShellInput& input_;
  ShellState state_;
  ShellScript out_;
  std::deque<ShellList> parsed_;
  std::map<std::string, const ShellList*, std::less<>> functions_;
  std::set<std::string> noted_;
  std::set<std::string, std::less<>> exported_;
  std::vector<Locals> locals_;  // of the functions that run: values that "local" replaced
  std::string not_executed_;    // the last command that is not executed
  int64_t unknown_ = 0;         // answers that only a running machine knows
  bool succeeded_ = true, succeeded_before_ = true;
  int line_ = 1, lists_ = 0, depth_ = 0, loops_ = 0;
};

}  // namespace

std::variant<ShellScript, Problem> read_shell_script(std::string_view text, const ShellInput& input) {
  Interpreter interpreter(input);
  if (auto problem = interpreter.run(text)) return std::move(*problem);
  return interpreter.result();
}

}  // namespace shardscape
