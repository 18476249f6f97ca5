#include "launch/torchtitan/torchtitan_launch.h"

#include <algorithm>
#include <charconv>

#include "launch/document/document_launch.h"
#include "launch/launch_parts.h"
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

}  // namespace

bool is_torchtitan_launch(std::string_view text) {
  return is_toml(text) || is_json(text) || has_torchtitan_settings(text) || is_python(text) ||
         (has(text, "torchtitan.train") && has(text, "torchrun"));
}

void read_torchtitan_launch(const LaunchRequest& request, LaunchImport& out) {
  std::optional<LaunchDocument> read;
  if (is_toml(request.text))
    read = read_request(DocumentLanguage::Toml, request.text, request, out);
  else if (is_json(request.text) || has_torchtitan_settings(request.text))
    read = read_request(DocumentLanguage::Json, torchtitan_settings(request.text), request, out);
  else if (is_python(request.text))
    return refuse(request, out, "Python functions build the settings; the text does not hold their values");
  else
    return refuse(request, out, "the script starts torchtitan, but its settings are in another file");
  if (!read) return;
  if (!read->arguments.contains("model.name") && read->arguments.contains("training.max_context_length"))
    return refuse(request, out, "the settings are those of a torchtitan of 2026, which has no model.flavor");
  const TorchtitanDegrees degrees = torchtitan_degrees(read->arguments);
  const int64_t in_log = torchtitan_log_gpus(request.text);
  const bool in_log_known = in_log > 0;
  const int64_t in_file = in_log_known ? in_log : degrees.shard > 0 ? degrees.shard * degrees.inner() : 0;
  if (!set_launch_gpus(request, in_file,
                       in_log_known ? "the device mesh in the log" : "the product of the degrees", out))
    return;
  finish_launch(read_torchtitan_settings(read->arguments, request, out), read->lines, out);
  out.measured = torchtitan_measured(request.text);
}

}  // namespace shardscape
