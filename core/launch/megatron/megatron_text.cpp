#include "launch/megatron/megatron_text.h"

#include <algorithm>

#include "launch/megatron/megatron_flags.h"
#include "launch/text_lines.h"

namespace shardscape {
namespace {

// Rows of the dump: "  tensor_model_parallel_size ...................... 8"
// (megatron/training/arguments.py, _print_args).
constexpr std::string_view kDots = " ..";

bool is_flag(const std::string& word) {
  return word.size() > 2 && word.starts_with("--") && word.find(' ') >= word.find('=');
}

// Position of the program; the number of words if there is none.
size_t program_of(const std::vector<std::string>& words) {
  bool python = false;
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i].ends_with(".py") && !is_flag(words[i])) return i;
    python = python || words[i].find("python") != std::string::npos || words[i].ends_with("torchrun") ||
             words[i] == "accelerate";
    if (python && (words[i] == "-m" || words[i] == "--module") && i + 1 < words.size() &&
        !words[i + 1].starts_with("torch.distributed"))
      return i + 1;
  }
  return words.size();
}

void take_row(const std::string& name, const std::string& value, int line, const MegatronFlags& flags,
              MegatronText& out) {
  const auto put = [&](const std::string& argument, const std::string& text) {
    out.arguments[argument] = text;
    out.lines[argument] = line;
  };
  const MegatronFlag* flag = flags.of_dest(name);
  if (!flag) {
    std::string argument = "--" + name;
    std::replace(argument.begin() + 2, argument.end(), '_', '-');
    if (value != "False") put(argument, value == "True" ? "true" : value);
    return;
  }
  switch (flag->action) {
    case MegatronAction::Value:
      if (value != "False" && !value.empty()) put(flag->name, value == "True" ? "true" : value);
      return;
    case MegatronAction::On:
    case MegatronAction::Both:
      if (value == "True") put(flag->name, "true");
      return;
    case MegatronAction::Off:
      if (value == "False") put(flag->name, "true");
      return;
  }
}

}  // namespace

// Words behind a flag up to the next one are its values; "--flag=value" counts too.
MegatronText megatron_command(const ShellCommand& command) {
  MegatronText out;
  const std::vector<std::string>& words = command.words;
  const size_t program = program_of(words);
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (!is_flag(word)) continue;
    const size_t sign = word.find('=');
    std::string name = word.substr(0, sign), value = sign == std::string::npos ? "" : word.substr(sign + 1);
    std::string underscored = name;
    std::replace(underscored.begin() + 2, underscored.end(), '-', '_');
    const bool launcher = program < words.size()
                              ? i < program
                              : underscored == "--nproc_per_node" || underscored == "--nnodes";
    while (i + 1 < words.size() && !is_flag(words[i + 1]) && sign == std::string::npos) {
      if (launcher && (!value.empty() || i + 1 == program || words[i + 1] == "-m")) break;
      value += (value.empty() ? "" : " ") + words[++i];
    }
    if (launcher) {
      out.launcher[underscored] = value;
    } else {
      out.arguments[name] = value.empty() ? "true" : value;
      out.lines[name] = command.line;
    }
  }
  return out;
}

bool has_megatron_dump(std::string_view text) {
  return text.find("tensor_model_parallel_size ..") != std::string_view::npos &&
         text.find("num_layers ..") != std::string_view::npos;
}

MegatronText megatron_dump(std::string_view text) {
  const MegatronFlags flags;
  MegatronText out;
  for_lines(text, [&](std::string_view row, int line) {
    const size_t dots = row.find(kDots);
    const size_t value_at = dots == std::string_view::npos ? dots : row.find(". ", dots);
    if (value_at == std::string_view::npos) return;
    std::string_view name = row.substr(0, dots), value = row.substr(value_at + 2);
    name.remove_prefix(name.find_last_of(" \t:|") + 1);
    while (!value.empty() && (value.back() == '\r' || value.back() == ' ')) value.remove_suffix(1);
    while (!value.empty() && value.front() == ' ') value.remove_prefix(1);
    if (name.empty() || value == "None") return;
    if (name == "world_size")
      out.launcher["world_size"] = value;
    else
      take_row(std::string(name), plain_python_value(value), line, flags, out);
  });
  return out;
}

}  // namespace shardscape
