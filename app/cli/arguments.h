// Command-line words after the command, parsed into flags with values and operands.
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
  // The last value, if a flag is given several times.
  const std::string* value(std::string_view flag) const;
  // All values, in order.
  std::vector<std::string> values(std::string_view flag) const;
  // Flags and values, in order.
  const std::vector<std::pair<std::string, std::string>>& given() const { return values_; }
  bool has(std::string_view flag) const { return value(flag) != nullptr; }
  const std::vector<std::string>& operands() const { return operands_; }

 private:
  friend Result<Arguments> parse_arguments(std::span<const char* const> words, const Command& command);
  std::vector<std::pair<std::string, std::string>> values_;
  std::vector<std::string> operands_;
};

// Accepts --flag value, --flag=value, -o value and -ovalue. All words after -- are operands. A Problem names
// the flag. Values of settings may be empty, others may not.
Result<Arguments> parse_arguments(std::span<const char* const> words, const Command& command);

// Whether the words contain a request for help; ignores other errors.
bool asks_for_help(std::span<const char* const> words);

}  // namespace shardscape
