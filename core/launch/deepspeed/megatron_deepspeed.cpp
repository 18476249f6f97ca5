#include "launch/deepspeed/megatron_deepspeed.h"

#include <algorithm>

#include "launch/document/launch_document.h"
#include "launch/launch_parts.h"
#include "launch/megatron/megatron_text.h"
#include "launch/text_lines.h"

namespace shardscape {
namespace {

// "s/NAME/value/": replaces the first NAME of every line, as sed does.
std::optional<std::string> replaced(const std::string& text, const std::string& program) {
  if (program.size() < 4 || program[0] != 's') return std::nullopt;
  const char sign = program[1];
  const size_t middle = program.find(sign, 2),
               end = middle == std::string::npos ? middle : program.find(sign, middle + 1);
  if (end == std::string::npos || middle == 2) return std::nullopt;
  const std::string name = program.substr(2, middle - 2),
                    value = program.substr(middle + 1, end - middle - 1);
  std::string out;
  for_lines(text, [&](std::string_view row, int) {
    std::string line(row);
    if (const size_t found = line.find(name); found != std::string::npos)
      line.replace(found, name.size(), value);
    out += line + "\n";
  });
  return out;
}

// A JSON that a chain of "sed s/NAME/value/ TEMPLATE | sed ..." writes; nullopt: there is none, or its
// template is not beside the script.
std::optional<std::string> json_of_template(const ShellScript& script, const LaunchRequest& request) {
  std::optional<std::string> out;
  if (!request.shell.source) return out;
  for (const ShellCommand& command : script.commands) {
    if (command.words.size() < 2 || command.words[0] != "sed") continue;
    if (command.words.size() > 2) {
      const std::string& path = command.words[2];
      out = request.shell.source(path.substr(path.find_last_of('/') + 1));
    }
    if (out) out = replaced(*out, command.words[1]);
  }
  return out;
}

// "#SBATCH --nodes=24": what SLURM_NNODES is inside the job.
std::string slurm_nodes(const std::string& text) {
  for (const std::string_view option : {"#SBATCH --nodes=", "#SBATCH -N "}) {
    const size_t at = text.find(option);
    if (at == std::string::npos || (at > 0 && text[at - 1] != '\n')) continue;
    const size_t from = at + option.size(), to = text.find_first_not_of("0123456789", from);
    return text.substr(from, to - from);
  }
  return "";
}

std::optional<int64_t> processes(const MegatronText& command, std::string& from) {
  const auto find = [&](const char* name) -> std::optional<int64_t> {
    const auto it = command.launcher.find(name);
    return it == command.launcher.end() ? std::nullopt : positive_number(it->second);
  };
  const char* const each_name = command.launcher.contains("--num_gpus") ? "--num_gpus" : "--nproc_per_node";
  const char* const nodes_name = command.launcher.contains("--num_nodes") ? "--num_nodes" : "--nnodes";
  const auto each = find(each_name);
  const bool several = command.launcher.contains(nodes_name);
  const auto nodes = several ? find(nodes_name) : std::optional<int64_t>(1);
  constexpr int64_t kMost = 1'000'000;
  if (!each || !nodes || *each > kMost || *nodes > kMost) return std::nullopt;
  from = std::string(each_name) + (several ? std::string(" x ") + nodes_name : "");
  return *each * *nodes;
}

class ScriptReader {
 public:
  ScriptReader(const LaunchRequest& request, LaunchImport& out) : request_(request), out_(out) {}

  void run() {
    LaunchRequest with_nodes = request_;
    if (const std::string nodes = slurm_nodes(request_.text); !nodes.empty())
      for (const char* name : {"SLURM_NNODES", "SLURM_JOB_NUM_NODES"})
        with_nodes.shell.environment.emplace(name, nodes);
    const std::optional<ShellScript> script = read_script(with_nodes, out_);
    if (!script) return;
    for (const ShellCommand& command : script->commands)
      if (MegatronText text = megatron_command(command); text.arguments.contains("--num-layers"))
        return use(std::move(text), *script);
    out_.problems.emplace_back(
        ProblemCode::LaunchFormat, request_.where, "no command of the script has the argument --num-layers",
        "a script that starts pretrain_gpt.py with its arguments; missing $1, $2, ... can "
        "be given");
  }

 private:
  void use(MegatronText text, const ShellScript& script) {
    const bool has_json = add_json(text, script);
    std::string from;
    const auto stated = processes(text, from);
    if (!set_launch_gpus(request_, stated, from, out_) || !out_.problems.empty()) return;
    std::optional<NamedModel> named;
    if (!request_.model.empty()) {
      auto model = find_model(request_, "", "");
      if (auto* problem = std::get_if<Problem>(&model))
        return void(out_.problems.push_back(std::move(*problem)));
      named = std::get<NamedModel>(std::move(model));
    }
    finish_launch(read_megatron_deepspeed_arguments(text.arguments, *out_.gpus, has_json,
                                                    named ? &named->model : nullptr),
                  text.lines, out_);
  }

  // The JSON of a here-document, of a template that sed fills, or a file beside the script.
  bool add_json(MegatronText& text, const ShellScript& script) {
    const auto named = text.arguments.find("--deepspeed_config");
    if (named == text.arguments.end()) return false;
    const std::string& path = named->second;
    std::optional<std::string> json;
    if (const auto it = script.files.find(path); it != script.files.end()) json = it->second;
    if (!json) json = json_of_template(script, request_);
    if (!json && request_.shell.source) json = request_.shell.source(path.substr(path.find_last_of('/') + 1));
    const int line = text.lines.contains("--deepspeed_config") ? text.lines.at("--deepspeed_config") : 0;
    if (!json) {
      out_.notes.push_back({line, "the file " + path + " is not there; what it says is not known"});
      return false;
    }
    auto read = read_launch_document(DocumentLanguage::Json, *json, path);
    if (const auto* problem = std::get_if<Problem>(&read)) {
      out_.notes.push_back({line, path + " is not read: " + problem->what});
      return false;
    }
    for (const auto& [name, value] : std::get<LaunchDocument>(read).arguments)
      text.arguments["deepspeed_config." + name] = value;
    return true;
  }

  const LaunchRequest& request_;
  LaunchImport& out_;
};

}  // namespace

bool is_megatron_deepspeed(std::string_view text) {
  const auto has = [&](const char* mark) { return text.find(mark) != std::string_view::npos; };
  return has("--num-layers") && has("--deepspeed") && (has("deepspeed_config") || has("--zero-stage"));
}

void read_megatron_deepspeed(const LaunchRequest& request, LaunchImport& out) {
  ScriptReader(request, out).run();
}

}  // namespace shardscape
