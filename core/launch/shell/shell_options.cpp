#include "launch/shell/shell_options.h"

#include <charconv>

namespace shardscape {
namespace {

size_t position_of(const ShellState& state) {
  size_t out = 1;
  if (const std::string* text = find_shell_value(state, "OPTIND"))
    std::from_chars(text->data(), text->data() + text->size(), out);
  return out < 1 ? 1 : out;
}

}  // namespace

bool next_shell_option(ShellState& state, const std::vector<std::string>& words) {
  if (words.size() < 3) return false;
  const std::string &spec = words[1], &name = words[2];
  const std::vector<std::string> arguments = words.size() > 3
                                                 ? std::vector<std::string>(words.begin() + 3, words.end())
                                                 : state.arguments;
  state.budget.spend(arguments.size() + 1);
  size_t at = position_of(state);
  const std::string word = at <= arguments.size() ? arguments[at - 1] : "";
  state.variables.erase("OPTARG");
  const auto answer = [&](const std::string& option, bool more) {
    set_shell_value(state, name, option);
    set_shell_value(state, "OPTIND", std::to_string(at));
    return more;
  };
  if (state.option_sign + 1 >= word.size() && state.option_sign > 0) state.option_sign = 0;
  if (word.size() < 2 || word[0] != '-' || word == "--") {
    if (word == "--") ++at;
    return answer("?", false);
  }
  const char option = word[++state.option_sign];
  const bool last = state.option_sign + 1 >= word.size(), silent = spec.starts_with(':');
  const size_t found = option == ':' ? std::string::npos : spec.find(option);
  const bool takes = found != std::string::npos && found + 1 < spec.size() && spec[found + 1] == ':';
  const std::string rest = word.substr(state.option_sign + 1);
  if (last || takes) {
    ++at;
    state.option_sign = 0;
  }
  if (found == std::string::npos || (takes && last && at > arguments.size())) {
    if (silent) set_shell_value(state, "OPTARG", std::string(1, option));
    return answer(takes && silent ? ":" : "?", true);
  }
  if (takes) set_shell_value(state, "OPTARG", last ? arguments[at++ - 1] : rest);
  return answer(std::string(1, option), true);
}

}  // namespace shardscape
