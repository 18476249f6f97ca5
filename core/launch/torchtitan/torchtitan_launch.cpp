#include "launch/torchtitan/torchtitan_launch.h"

#include <algorithm>
#include <charconv>

#include "launch/document/document_launch.h"
#include "launch/launch_parts.h"
#include "launch/megatron/megatron_settings.h"
#include "launch/megatron/megatron_text.h"
#include "launch/torchtitan/torchtitan_fields.h"
#include "launch/torchtitan/torchtitan_log.h"

namespace shardscape {
namespace {

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

bool is_python(std::string_view text) {
  return has(text, "Trainer.Config(") || (has(text, "torchtitan") && has(text, "\nimport ")) ||
         (has(text, "torchtitan") && (text.starts_with("from ") || has(text, "\nfrom ")) &&
          has(text, "def "));
}

bool is_toml(std::string_view text) {
  return has(text, "[training]") && (has(text, "[parallelism]") || has(text, "[model]")) &&
         (has(text, "flavor") || has(text, "seq_len"));
}

bool is_json(std::string_view text) {
  return text.find_first_not_of(" \n\r\t") != std::string_view::npos &&
         text[text.find_first_not_of(" \n\r\t")] == '{' && has(text, "\"parallelism\"") &&
         has(text, "\"activation_checkpoint\"");
}

void refuse(const LaunchRequest& request, LaunchImport& out, const char* what) {
  out.problems.emplace_back(
      ProblemCode::LaunchFormat, request.where, what,
      "the log of a run with --job.print_config (--debug.print_config since 2026), or the JSON file of "
      "--job.save_config_file, or a TOML file of torchtitan v0.2.2 and older");
}

// "parallelism.tensor_parallel_degree" of the flag with dashes; "compile.no-enable" switches off.
void take_flag(const std::string& flag, const std::string& value, int line, LaunchDocument& out) {
  std::string name = flag.substr(2);
  std::replace(name.begin(), name.end(), '-', '_');
  const size_t last = name.rfind('.') + 1;
  const bool off = value == "true" && name.compare(last, 3, "no_") == 0;
  if (off) name.erase(last, 3);
  out.arguments[name] = off || value == "False" ? "false" : value == "True" ? "true" : value;
  out.lines[name] = line;
}

struct ScriptSettings {
  LaunchDocument document;
  int64_t gpus = 0;  // 0: the script does not say it
};

// The TOML that the command names, replaced by its flags. nullopt: out has the Problem.
std::optional<ScriptSettings> read_command(const LaunchRequest& request, LaunchImport& out) {
  const std::optional<ShellScript> script = read_script(request, out);
  if (!script) return std::nullopt;
  for (const ShellCommand& command : script->commands) {
    const MegatronText given = megatron_command(command);
    const auto file = std::find_if(given.arguments.begin(), given.arguments.end(), [](const auto& one) {
      return one.first == "--job.config_file" || one.first == "--job.config-file";
    });
    if (file == given.arguments.end()) continue;
    const auto written = script->files.find(file->second);
    const auto text = written != script->files.end() ? written->second : file_beside(request, file->second);
    if (!text) {
      out.problems.push_back(missing_file(request, file->second, "the TOML file itself"));
      return std::nullopt;
    }
    auto read = read_launch_document(DocumentLanguage::Toml, *text, file->second);
    if (auto* problem = std::get_if<Problem>(&read)) {
      out.problems.push_back(std::move(*problem));
      return std::nullopt;
    }
    ScriptSettings settings{std::get<LaunchDocument>(std::move(read))};
    settings.document.lines.clear();  // they are lines of another file
    for (const auto& [flag, value] : given.arguments) take_flag(flag, value, command.line, settings.document);
    const auto launcher = [&](const char* name) -> std::optional<int64_t> {
      const auto at = given.launcher.find(name);
      return at == given.launcher.end() ? std::nullopt : positive_number(at->second);
    };
    settings.gpus = gpus_of(launcher("--nnodes").value_or(1), launcher("--nproc_per_node")).value_or(0);
    return settings;
  }
  refuse(request, out, "the script starts torchtitan, but its settings are in another file");
  return std::nullopt;
}

}  // namespace

bool is_torchtitan_launch(std::string_view text) {
  return is_toml(text) || is_json(text) || has_torchtitan_settings(text) || is_python(text) ||
         (has(text, "torchtitan.train") && has(text, "torchrun"));
}

void read_torchtitan_launch(const LaunchRequest& request, LaunchImport& out) {
  std::optional<LaunchDocument> read;
  int64_t launched = 0;
  if (is_toml(request.text) || begins_as_toml(request.text)) {
    read = read_request(DocumentLanguage::Toml, request.text, request, out);
  } else if (is_json(request.text) || has_torchtitan_settings(request.text)) {
    read = read_request(DocumentLanguage::Json, torchtitan_settings(request.text), request, out);
  } else if (is_python(request.text)) {
    return refuse(request, out, "Python functions build the settings; the text does not hold their values");
  } else if (auto script = read_command(request, out)) {
    read = std::move(script->document);
    launched = script->gpus;
  }
  if (!read) return;
  if (!read->arguments.contains("model.name") && read->arguments.contains("training.max_context_length"))
    return refuse(request, out, "the settings are those of a torchtitan of 2026, which has no model.flavor");
  const TorchtitanDegrees degrees = torchtitan_degrees(read->arguments);
  const int64_t in_log = torchtitan_log_gpus(request.text);
  const int64_t in_file = in_log > 0          ? in_log
                          : launched > 0      ? launched
                          : degrees.shard > 0 ? capped_product({degrees.shard, degrees.inner()})
                                              : 0;
  const char* const from = in_log > 0     ? "the device mesh in the log"
                           : launched > 0 ? "the launcher's processes"
                                          : "the product of the degrees";
  if (!set_launch_gpus(request, in_file, from, out)) return;
  finish_launch(read_torchtitan_settings(read->arguments, request, out), read->lines, out);
  out.measured = torchtitan_measured(request.text);
}

}  // namespace shardscape
