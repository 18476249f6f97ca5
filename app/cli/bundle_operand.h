// The operand of commands that read a bundle.
#pragma once

#include <filesystem>
#include <variant>

#include "app/cli/arguments.h"

namespace shardscape {

// The folder. An exit code if it is missing or unreadable; the reason is on standard error.
std::variant<std::filesystem::path, int> bundle_operand(const Arguments& arguments, const char* command);

}  // namespace shardscape
