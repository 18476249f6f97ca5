// Saved designs: versioned JSON whose keys are knob ids. Errors name the file, the line or the key.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <variant>

#include "design/design.h"
#include "base/problem.h"

namespace shardscape {

std::string to_json(const Design& design);  // pretty, ends with a newline
// where: what to call the text in messages (a file name).
std::variant<Design, Problem> design_from_json(const std::string& text, const std::string& where);
std::variant<Design, Problem> load_design(const std::filesystem::path& path);
// Written beside and renamed, so that a failure leaves the old file whole.
std::optional<Problem> save_design(const Design& design, const std::filesystem::path& path);

}  // namespace shardscape
