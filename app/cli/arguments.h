// The words after a command, sorted into flags with values and operands.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "app/cli/command.h"
#include "base/problem.h"

namespace shardscape {

class Arguments {
 public:
  // Of a flag given several times the last one counts.
  const std::string* value(std::string_view flag) const;
  // All of them, in order.
  std::vector<std::string> values(std::string_view flag) const;
  bool has(std::string_view flag) const { return value(flag) != nullptr; }
  const std::vector<std::string>& operands() const { return operands_; }

 private:
  friend std::variant<Arguments, Problem> parse_arguments(std::span<const char* const> words,
                                                          const Command& command);
  std::vector<std::pair<std::string, std::string>> values_;
  std::vector<std::string> operands_;
};

// --flag value, --flag=value, -o value, -ovalue; everything after -- is an operand. A Problem names the flag.
std::variant<Arguments, Problem> parse_arguments(std::span<const char* const> words, const Command& command);

// Whether the help is asked for, whatever else is wrong with the words.
bool asks_for_help(std::span<const char* const> words);

}  // namespace shardscape
