#include "app/cli/arguments.h"

#include <algorithm>
#include <cctype>

#include "app/cli/flag_values.h"
#include "app/cli/text.h"
#include "base/number_text.h"
#include "base/shown_text.h"
#include "base/suggest.h"

namespace shardscape {
namespace {

// "--tp" and "-o" are flags; "-2" is a number and "-" is a word.
bool looks_like_flag(std::string_view word) {
  return word.size() > 1 && word[0] == '-' && !std::isdigit(static_cast<unsigned char>(word[1]));
}

// Also comma-separated lists and "all", which searches accept.
bool looks_like_boolean(std::string_view word) {
  static const std::vector<std::string> words{"true", "false", "on", "off", "yes", "no", "1", "0", "all"};
  for (;;) {
    const size_t comma = std::min(word.find(','), word.size());
    if (std::find(words.begin(), words.end(), lower_case(word.substr(0, comma))) == words.end()) return false;
    if (comma == word.size()) return true;
    word.remove_prefix(comma + 1);
  }
}

Problem unknown_flag(const std::string& name, const Command& command) {
  std::vector<std::string> known{"--help"};
  for (const Flag& flag : command.flags) known.push_back(flag.name);
  const auto near = closest(name, known);
  return Problem(ProblemCode::UnknownFlag, name,
                 near ? "there is no such flag; did you mean " + *near + "?" : "there is no such flag",
                 "a flag of \"shardscape-cli " + command.name + " --help\"");
}

Problem wrong_boolean(const Flag& flag, const std::string& word) {
  return Problem(ProblemCode::FlagValueInvalid, flag.name,
                 "\"" + shortened(word) + "\" is neither true nor false",
                 flag.name + " by itself, or with true or false (also on and off, yes and no, 1 and 0)");
}

Problem missing_value(const Flag& flag) {
  return Problem(ProblemCode::FlagValueMissing, flag.name, "a value is missing",
                 flag.name + " " + flag.operand);
}

}  // namespace

const std::string* Arguments::value(std::string_view flag) const {
  for (auto it = values_.rbegin(); it != values_.rend(); ++it) {
    if (it->first == flag) return &it->second;
  }
  return nullptr;
}

std::vector<std::string> Arguments::values(std::string_view flag) const {
  std::vector<std::string> all;
  for (const auto& [name, value] : values_)
    if (name == flag) all.push_back(value);
  return all;
}

Result<Arguments> parse_arguments(std::span<const char* const> words, const Command& command) {
  Arguments result;
  bool flags_end = false;
  std::optional<Problem> no_boolean;  // of a word behind a flag that is true or false
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string word = words[i];
    if (flags_end || !looks_like_flag(word)) {
      result.operands_.push_back(word);
      continue;
    }
    if (word == "--") {
      flags_end = true;
      continue;
    }
    const bool is_long = word[1] == '-';
    const size_t equals = is_long ? word.find('=') : std::string::npos;
    const std::string name = is_long ? word.substr(0, equals) : word.substr(0, 2);
    const auto flag = std::find_if(command.flags.begin(), command.flags.end(), [&](const Flag& f) {
      return is_long ? f.name == name : f.letter == name[1];
    });
    if (flag == command.flags.end()) return unknown_flag(is_long ? name : word, command);
    std::optional<std::string> attached;
    if (equals != std::string::npos) attached = word.substr(equals + 1);
    if (!is_long && word.size() > 2) attached = word.substr(2);
    const bool more = i + 1 < words.size();
    if (flag->kind == FlagKind::Switch) {
      if (attached)
        return Problem(ProblemCode::FlagTakesNoValue, flag->name, "it takes no value",
                       flag->name + " by itself");
      attached = "true";
    } else if (flag->kind == FlagKind::Boolean && !attached) {
      const std::string next = more ? words[i + 1] : "";
      if (more && !looks_like_flag(next) && !looks_like_boolean(next))
        no_boolean = wrong_boolean(*flag, next);
      attached = more && looks_like_boolean(next) ? words[++i] : "true";
    } else if (!attached) {
      if (!more || looks_like_flag(words[i + 1])) return missing_value(*flag);
      attached = words[++i];
    }
    // Only a setting may be empty: a script with an unset variable must not get the answer to another
    // question.
    if (attached->empty() && flag->kind == FlagKind::Value && !is_setting(*flag)) return missing_value(*flag);
    result.values_.emplace_back(flag->name, *attached);
  }
  const auto wanted = static_cast<size_t>(command.operands);
  if (result.operands_.size() > wanted) {
    if (no_boolean) return *std::move(no_boolean);
    return Problem(ProblemCode::StrayWord, result.operands_[wanted], "this argument belongs to no flag",
                   "shardscape-cli " + command.name + " " + command.usage);
  }
  return result;
}

bool asks_for_help(std::span<const char* const> words) {
  return std::any_of(words.begin(), words.end(), [](const char* word) {
    return std::string_view(word) == "--help" || std::string_view(word) == "-h";
  });
}

}  // namespace shardscape
