// What the value of a flag can be, for shell completions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/cli/command.h"

namespace shardscape {

enum class ValueKind { Words, Files, Folders, Other };

struct FlagValues {
  ValueKind kind = ValueKind::Other;
  std::vector<std::string> words;  // of Words
  friend auto operator<=>(const FlagValues&, const FlagValues&) = default;
};

// Choices of a setting, true and false, presets, examples, objectives, files or folders; Other: any text.
FlagValues flag_values(const Flag& flag);
// Of a flag of the window program.
FlagValues operand_values(std::string_view name, std::string_view operand);

// Whether the flag is a setting of a design. A flag without a group belongs to its command, even if a setting
// has the same name.
bool is_setting(const Flag& flag);

// "Tensor parallel degree": the label of a setting, else the first sentence of the help.
std::string short_help(const Flag& flag);
std::string first_sentence(const std::string& help);

}  // namespace shardscape
