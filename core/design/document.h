// Saved designs: versioned JSON with knob ids as keys. Errors name the file and the line or the key.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <variant>

#include "base/problem.h"
#include "design/design.h"

namespace shardscape {

std::string to_json(const Design& design);  // indented, ends with a newline
// where: the name of the text in messages (a file name).
Result<Design> design_from_json(const std::string& text, const std::string& where);
Result<Design> load_design(const std::filesystem::path& path);
// Replaces the file atomically: a failed write leaves the old file unchanged.
std::optional<Problem> save_design(const Design& design, const std::filesystem::path& path);

}  // namespace shardscape
