#include "launch/rl/verl_launch.h"

#include <algorithm>

#include "launch/document/document_launch.h"
#include "launch/launch_parts.h"
#include "launch/megatron/megatron_settings.h"
#include "launch/nemo/interpolation.h"
#include "launch/rl/verl_actor.h"

namespace shardscape {
namespace {

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

bool is_yaml(std::string_view text) { return has(text, "actor_rollout_ref:") && has(text, "actor:"); }

// The text of an override as YAML would have it: "True" is "true", "['a', b]" is "a b".
std::string override_text(const std::string& value) {
  std::string text = value;
  if (text.size() > 1 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front())
    text = text.substr(1, text.size() - 2);
  if (text == "True" || text == "False") return text == "True" ? "true" : "false";
  if (text == "None" || text == "~") return "null";
  return text == "{}" ? "" : plain_python_value(text);
}

// "+a.b=8" is a setting; other words of the command are none.
LaunchDocument overrides_of(const ShellCommand& command) {
  LaunchDocument out;
  for (const std::string& word : command.words) {
    const size_t begin = word.find_first_not_of('+'), sign = word.find('=');
    if (word.starts_with('-') || sign == std::string::npos || begin >= sign) continue;
    const std::string name = word.substr(begin, sign - begin);
    if (!has(name, ".") && name != "model_engine") continue;
    out.arguments[name] = override_text(word.substr(sign + 1));
    out.lines[name] = command.line;
  }
  return out;
}

// Settings of the first command that states some of the actor. Its backend, where it is not stated.
std::optional<LaunchDocument> read_command(const LaunchRequest& request, std::string& backend,
                                           LaunchImport& out) {
  const std::optional<ShellScript> script = read_script(request, out);
  if (!script) return std::nullopt;
  for (const ShellCommand& command : script->commands) {
    LaunchDocument document = overrides_of(command);
    const auto first = document.arguments.lower_bound(kVerlActor);
    if (first == document.arguments.end() || !first->first.starts_with(kVerlActor)) continue;
    for (const std::string& word : command.words)
      if (has(word, "--config-name") && has(word, "megatron")) backend = "megatron";
    for (size_t i = 0; i + 1 < command.words.size(); ++i)
      if (command.words[i] == "--config-name" && has(command.words[i + 1], "megatron")) backend = "megatron";
    return document;
  }
  out.problems.emplace_back(
      ProblemCode::LaunchFormat, request.where,
      "no command of the script sets values of actor_rollout_ref.actor",
      "a command with python -m verl.trainer.main_ppo and overrides, or the YAML of the run");
  return std::nullopt;
}

}  // namespace

bool is_verl_launch(std::string_view text) {
  return has(text, "actor_rollout_ref.actor.") || is_yaml(text) || has(text, "-m verl.trainer.");
}

void read_verl_launch(const LaunchRequest& request, LaunchImport& out) {
  std::string backend = "fsdp";
  std::optional<LaunchDocument> document;
  if (is_yaml(request.text) && !has(request.text, "-m verl.trainer.")) {
    document = read_request(DocumentLanguage::Yaml, request.text, request, out);
    if (document) interpolate(*document, request.shell.environment);
  } else {
    document = read_command(request, backend, out);
  }
  if (!document) return;
  const LaunchArguments& given = document->arguments;
  const auto text = [&](const std::string& name, const std::string& otherwise) {
    const auto it = given.find(name);
    return it == given.end() || it->second == "null" ? otherwise : it->second;
  };
  backend = text(std::string(kVerlActor) + "strategy", text("model_engine", backend));
  const auto gpus = gpus_of(whole_number(text("trainer.nnodes", "1")),
                            whole_number(text("trainer.n_gpus_per_node", "8")));
  const std::string from = "trainer.nnodes x trainer.n_gpus_per_node";
  if (backend == "megatron") return read_verl_megatron(std::move(*document), gpus, from, request, out);
  if (backend == "fsdp" || backend == "fsdp2") return read_verl_fsdp(*document, gpus, from, request, out);
  out.problems.emplace_back(ProblemCode::LaunchFormat, request.where,
                            "the actor's strategy is \"" + backend + "\"", "fsdp, fsdp2 or megatron");
}

}  // namespace shardscape
