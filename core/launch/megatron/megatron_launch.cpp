#include "launch/megatron/megatron_launch.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "launch/launch_parts.h"
#include "launch/megatron/megatron_fields.h"
#include "launch/megatron/megatron_measured.h"
#include "launch/megatron/megatron_settings.h"
#include "launch/megatron/megatron_text.h"

namespace shardscape {
namespace {

// GPUs of torchrun: processes per node x nodes.
bool read_gpus(const MegatronText& read, const LaunchRequest& request, LaunchImport& out) {
  const auto find = [&](const char* name) -> std::optional<int64_t> {
    const auto it = read.launcher.find(name);
    return it == read.launcher.end() ? std::nullopt : whole_number(it->second);
  };
  if (const auto world = find("world_size")) return set_launch_gpus(request, world, "world_size", out);
  const bool given = read.launcher.contains("--nnodes");
  return set_launch_gpus(request, gpus_of(given ? find("--nnodes") : 1, find("--nproc_per_node")),
                         given ? "--nproc_per_node x --nnodes" : "--nproc_per_node", out);
}

std::optional<MegatronText> find_command(const LaunchRequest& request, LaunchImport& out) {
  const std::optional<ShellScript> script = read_script(request, out);
  if (!script) return std::nullopt;
  std::optional<MegatronText> chosen;
  int line = 0;
  for (const ShellCommand& command : script->commands) {
    MegatronText given = megatron_command(command);
    if (!given.arguments.contains("--num-layers")) continue;
    if (!chosen) {
      chosen = std::move(given);
      line = command.line;
    } else {
      out.notes.push_back(
          {command.line, "another command has --num-layers; the design is of line " + std::to_string(line)});
    }
  }
  if (chosen) return chosen;
  out.problems.emplace_back(
      ProblemCode::LaunchFormat, request.where, "no command of the script has the argument --num-layers",
      "a script that starts pretrain_gpt.py with its arguments; missing $1, $2, ... can be given");
  return std::nullopt;
}

}  // namespace

bool is_megatron_launch(std::string_view text) {
  return has_megatron_dump(text) || text.find("--num-layers") != std::string_view::npos ||
         text.find("--tensor-model-parallel-size") != std::string_view::npos;
}

void read_megatron_launch(const LaunchRequest& request, LaunchImport& out) {
  const std::optional<MegatronText> given = has_megatron_dump(request.text) ? megatron_dump(request.text)
                                                                            : find_command(request, out);
  if (!given) return;
  if (!read_gpus(*given, request, out)) return;
  if (has_megatron_dump(request.text)) out.measured = megatron_measurements(request.text);
  if (is_mindspeed(given->arguments))
    out.notes.push_back({given->lines.empty() ? 0 : given->lines.begin()->second,
                         "the launch is one of MindSpeed, a fork of Megatron-LM: its own arguments are not "
                         "understood, and the design is that of the others"});
  LaunchDesign read = read_megatron_arguments(given->arguments, *out.gpus);
  finish_launch(std::move(read), given->lines, out);
}

}  // namespace shardscape
