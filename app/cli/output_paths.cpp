#include "app/cli/output_paths.h"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "app/cli/flag_values.h"
#include "base/atomic_write.h"
#include "bundle/bundle_files.h"

namespace shardscape {
namespace fs = std::filesystem;
namespace {

Output output_of(const std::string& name, const Command& command) {
  const Flag* flag = find_flag(command.flags, name);
  return flag ? flag->output : Output::None;
}

Problem wrong_output(const std::string& flag, const std::string& what, const std::string& accepted) {
  return {ProblemCode::ConflictingFlags, flag, what, accepted};
}

bool is_regular(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

// Two names of one regular file, or of one file that will be made.
bool one_file(const fs::path& a, const fs::path& b) {
  std::error_code error;
  if (is_regular(a) && is_regular(b)) return fs::equivalent(a, b, error) && !error;
  if (fs::exists(fs::symlink_status(a, error)) || fs::exists(fs::symlink_status(b, error))) return false;
  const fs::path first = fs::weakly_canonical(fs::absolute(a, error), error);
  return !error && first == fs::weakly_canonical(fs::absolute(b, error), error) && !error;
}

// Whether the flag may write to the file that the other flag reads: the next version of it.
bool continues(const std::string& output, const std::string& input) {
  return (output == "--save-design" && input == "--design") || (output == "--output" && input == "--resume");
}

// A value such as the id of a preset is no path, even if a file has this name.
bool reads_file(const std::string& name, const Command& command) {
  const Flag* flag = find_flag(command.flags, name);
  return flag && flag->output == Output::None && flag_values(*flag).kind == ValueKind::Files;
}

// Whether the path is a trace of the bundle, or another of its files.
bool is_part_of_bundle(const fs::path& path, const fs::path& bundle) {
  std::error_code error;
  if (!is_regular(path) || !fs::equivalent(path.has_parent_path() ? path.parent_path() : ".", bundle, error))
    return false;
  const std::string name = path.filename().string();
  return name.ends_with(".et") || name == kCompactName ||
         std::any_of(std::begin(kBundleFiles), std::end(kBundleFiles),
                     [&](const BundleFile& file) { return name == file.name; });
}

// Refuses to replace what the command reads. merge may: its result contains its parts.
std::optional<Problem> check_inputs(const Arguments& arguments, const Command& command,
                                    const std::string& flag, const std::string& path) {
  const std::string other = "another file; the command reads this one";
  for (const std::string& operand : arguments.operands()) {
    if (command.name != "merge" && one_file(path, operand) && is_regular(path))
      return wrong_output(flag, "\"" + path + "\" is the input, too", other);
    if (is_part_of_bundle(path, operand))
      return wrong_output(flag, "\"" + path + "\" is a file of the bundle",
                          "a file that the bundle does not have");
  }
  for (const auto& [name, value] : arguments.given())
    if (reads_file(name, command) && !continues(flag, name) && is_regular(path) && one_file(path, value))
      return wrong_output(flag, "\"" + path + "\" is the file of " + name + ", too", other);
  return std::nullopt;
}

// Two flags must not write one file.
std::optional<Problem> check_outputs(const Arguments& arguments, const Command& command,
                                     const std::string& flag, const std::string& path) {
  for (const auto& [name, value] : arguments.given())
    if (name != flag && output_of(name, command) == Output::File && one_file(path, value))
      return wrong_output(flag, name + " writes the same file, \"" + value + "\"", "a file for each flag");
  return std::nullopt;
}

}  // namespace

std::optional<Problem> check_output_paths(const Arguments& arguments, const Command& command) {
  for (const auto& [flag, path] : arguments.given()) {
    const Output what = output_of(flag, command);
    if (what == Output::None || (what == Output::Bundle && path == "-")) continue;
    if (path == "-")
      return wrong_output(flag, "\"-\" is no standard output here",
                          "a file; /dev/stdout is standard output, ./- a file with this name");
    if (what != Output::File) {
      if (flag != "--output")  // export and expand ask at once
        if (auto problem = why_no_folder(path)) return problem;
      continue;
    }
    if (auto problem = check_inputs(arguments, command, flag, path)) return problem;
    if (auto problem = check_outputs(arguments, command, flag, path)) return problem;
    if (auto problem = why_not_writable(path)) return problem;
  }
  return std::nullopt;
}

}  // namespace shardscape
