#include "launch/megatron/megatron_launch.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "launch/megatron/megatron_arguments.h"

namespace shardscape {
namespace {

// Rows of the dump: "  tensor_model_parallel_size ...................... 8"
// (megatron/training/arguments.py, _print_args).
constexpr std::string_view kDots = " ..";

// Switches that print as the value which they turn off: --no-... with action store_false.
constexpr std::pair<std::string_view, const char*> kSwitchedOff[] = {
    {"gradient_accumulation_fusion", "--no-gradient-accumulation-fusion"},
    {"bias_swiglu_fusion", "--no-bias-swiglu-fusion"},
    {"overlap_p2p_comm", "--no-overlap-p2p-communication"}};

constexpr int64_t kMostGpus = 100'000'000;

struct Given {
  LaunchArguments arguments;
  std::map<std::string, int> lines;
  std::map<std::string, std::string> launcher;  // --nproc_per_node, --nnodes
};

std::optional<int64_t> whole(const std::string& text) {
  int64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return out;
}

bool is_flag(const std::string& word) {
  return word.size() > 2 && word.starts_with("--") && word.find(' ') >= word.find('=');
}

// Words behind a flag up to the next one are its values; "--flag=value" counts too.
Given arguments_of(const ShellCommand& command) {
  Given out;
  bool launcher = true;  // flags before the program belong to torchrun or srun
  for (size_t i = 0; i < command.words.size(); ++i) {
    const std::string& word = command.words[i];
    if (word.ends_with(".py")) launcher = false;
    if (!is_flag(word)) continue;
    const size_t sign = word.find('=');
    std::string name = word.substr(0, sign);
    std::string value = sign == std::string::npos ? "" : word.substr(sign + 1);
    if (launcher) std::replace(name.begin() + 2, name.end(), '-', '_');
    while (i + 1 < command.words.size() && !is_flag(command.words[i + 1]) && sign == std::string::npos) {
      const std::string& next = command.words[i + 1];
      if (launcher && (!value.empty() || next.ends_with(".py"))) break;
      value += (value.empty() ? "" : " ") + next;
      ++i;
    }
    if (launcher) {
      out.launcher[name] = value;
    } else {
      out.arguments[name] = value.empty() ? "true" : value;
      out.lines[name] = command.line;
    }
  }
  return out;
}

bool is_dump_row(std::string_view row) {
  return row.find(kDots) != std::string_view::npos && row.find_first_not_of(" \t") != std::string_view::npos;
}

// The last dump of the log counts: values that Megatron-LM derived replace those of the command line.
Given arguments_of_dump(std::string_view text) {
  Given out;
  int line = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string_view row = text.substr(at, end - at);
    at = end + 1;
    ++line;
    if (!is_dump_row(row)) continue;
    const size_t dots = row.find(kDots), value_at = row.find_last_of('.', row.find(". ", dots));
    if (value_at == std::string_view::npos || row.find(". ", dots) == std::string_view::npos) continue;
    std::string_view name = row.substr(0, dots);
    name.remove_prefix(std::min(name.find_last_of(" \t:|") + 1, name.size()));
    std::string value(row.substr(row.find(". ", dots) + 2));
    while (!value.empty() && (value.back() == '\r' || value.back() == ' ')) value.pop_back();
    if (name.empty() || value == "None") continue;
    const auto off = std::find_if(std::begin(kSwitchedOff), std::end(kSwitchedOff),
                                  [&](const auto& one) { return one.first == name; });
    std::string argument = "--" + std::string(name);
    std::replace(argument.begin() + 2, argument.end(), '_', '-');
    if (off != std::end(kSwitchedOff)) {
      if (value == "False") out.arguments[off->second] = "true";
      continue;
    }
    if (name == "world_size") out.launcher["world_size"] = value;
    if (value == "False") continue;
    out.arguments[argument] = value == "True" ? "true" : value;
    out.lines[argument] = line;
  }
  return out;
}

bool has_dump(std::string_view text) {
  return text.find("tensor_model_parallel_size ..") != std::string_view::npos &&
         text.find("num_layers ..") != std::string_view::npos;
}

// GPUs of torchrun: processes per node x nodes.
void read_gpus(const Given& launch, const LaunchRequest& request, LaunchImport& out) {
  if (request.gpus) {
    out.gpus = request.gpus;
    out.gpus_from = "given";
    return;
  }
  const auto find = [&](const char* name) -> std::optional<int64_t> {
    const auto it = launch.launcher.find(name);
    return it == launch.launcher.end() ? std::nullopt : whole(it->second);
  };
  if (const auto world = find("world_size")) {
    out.gpus = world;
    out.gpus_from = "world_size";
  } else if (const auto each = find("--nproc_per_node")) {
    const bool given = launch.launcher.contains("--nnodes");
    const auto nodes = given ? find("--nnodes") : 1;
    if (!nodes || *each < 1 || *nodes < 1 || *each > kMostGpus / *nodes) return;
    out.gpus = *each * *nodes;
    out.gpus_from = given ? "--nproc_per_node x --nnodes" : "--nproc_per_node";
  }
}

std::optional<Given> find_command(const LaunchRequest& request, LaunchImport& out) {
  auto script = read_shell_script(request.text, request.shell);
  if (const auto* problem = std::get_if<Problem>(&script)) {
    out.problems.emplace_back(problem->code, request.where + ", " + problem->where, problem->what,
                              problem->accepted);
    return std::nullopt;
  }
  ShellScript& read = std::get<ShellScript>(script);
  out.notes = std::move(read.notes);
  for (const ShellCommand& command : read.commands) {
    Given given = arguments_of(command);
    if (given.arguments.contains("--num-layers")) return given;
  }
  out.problems.emplace_back(
      ProblemCode::LaunchFormat, request.where, "no command of the script has the argument --num-layers",
      "a script that starts pretrain_gpt.py with its arguments; missing $1, $2, ... can be given");
  return std::nullopt;
}

}  // namespace

bool is_megatron_launch(std::string_view text) {
  return has_dump(text) || text.find("--num-layers") != std::string_view::npos ||
         text.find("--tensor-model-parallel-size") != std::string_view::npos;
}

void read_megatron_launch(const LaunchRequest& request, LaunchImport& out) {
  const std::optional<Given> given = has_dump(request.text) ? arguments_of_dump(request.text)
                                                            : find_command(request, out);
  if (!given) return;
  read_gpus(*given, request, out);
  if (!out.gpus) {
    out.problems.emplace_back(ProblemCode::LaunchGpus, request.where,
                              "the file does not say on how many GPUs it runs", "--gpus N");
    return;
  }
  LaunchDesign read = read_megatron_arguments(given->arguments, *out.gpus);
  out.design = std::move(read.design);
  out.fields = std::move(read.fields);
  for (LaunchField& field : out.fields)
    if (const auto line = given->lines.find(field.name); line != given->lines.end())
      field.line = line->second;
}

}  // namespace shardscape
