// What the words of a command say about a launch.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shardscape {

struct ShellState;

// Commands that change nothing a launch depends on.
bool is_silent_command(std::string_view name);
// export, declare, local, readonly, typeset.
bool is_shell_declaration(std::string_view name);
// Commands that set variables from input, or from text that is not followed.
bool reads_shell_input(const std::vector<std::string>& words);

// Position of a script that the words start: "bash x.sh", "srun ... bash x.sh", "./x.sh"; their number if
// there is none.
size_t shell_script_of(const std::vector<std::string>& words);
// The text of "printf FORMAT VALUES", from the format's position; nullopt: conversions other than %s and %d.
std::optional<std::string> shell_printf(const std::vector<std::string>& words, size_t format);
// What dirname, basename, readlink, realpath, expr, printf, seq and echo print; nullopt: another command.
std::optional<std::string> shell_output(ShellState& state, const std::vector<std::string>& words);
// Names and values of "read NAME..." from a text: its first line, or all of it with -d ''. Spaces at both
// ends are left out, and the last name takes the rest. nullopt: other options than -r and -d ''.
std::optional<std::vector<std::pair<std::string, std::string>>> shell_read(
    const std::vector<std::string>& words, const std::string& text);
// "srun ... bash -c TEXT": the text; empty: none.
std::string shell_text_of(const std::vector<std::string>& words);

// The name at the start of "NAME=value", "NAME[1]=value" or "NAME"; empty: none.
std::string shell_assigned_name(std::string_view word);
// Whether "*", "?" or "[" stand outside quotes and expansions.
bool has_shell_pattern(std::string_view word);

}  // namespace shardscape
