// The folder of a bundle, as commands that read one take it.
#pragma once

#include <filesystem>
#include <variant>

#include "app/cli/arguments.h"

namespace shardscape {

// An exit code where it is missing or cannot be read; standard error says why.
std::variant<std::filesystem::path, int> bundle_operand(const Arguments& arguments, const char* command);

}  // namespace shardscape
