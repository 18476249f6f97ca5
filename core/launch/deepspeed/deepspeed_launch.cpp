#include "launch/deepspeed/deepspeed_launch.h"

#include "launch/deepspeed/deepspeed_config.h"
#include "launch/document/launch_document.h"
#include "launch/launch_parts.h"

namespace shardscape {

bool is_deepspeed_json(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || text[first] != '{') return false;
  for (const char* key :
       {"\"zero_optimization\"", "\"train_micro_batch_size_per_gpu\"", "\"train_batch_size\""})
    if (text.find(key) != std::string_view::npos) return true;
  return false;
}

void read_deepspeed_json(const LaunchRequest& request, LaunchImport& out) {
  auto document = read_launch_document(DocumentLanguage::Json, request.text, request.where);
  if (auto* problem = std::get_if<Problem>(&document)) {
    out.problems.push_back(std::move(*problem));
    return;
  }
  const auto& read = std::get<LaunchDocument>(document);
  const auto model = find_model(request, "", "");
  if (const auto* problem = std::get_if<Problem>(&model)) out.problems.push_back(*problem);
  if (!set_launch_gpus(request, std::nullopt, "", out) || !out.problems.empty()) return;
  LaunchFields fields(read.arguments, *out.gpus, "DeepSpeed");
  const auto& named = std::get<NamedModel>(model);
  take_model(fields, request, named, "", "");
  if (named.seq > 0)
    fields.assume("seq", std::to_string(named.seq), "sequence length",
                  "the JSON does not say it: the usual length of the model");
  fields.assume("profile", "transformers-flash", "code of the model",
                "the JSON does not name it: Hugging Face transformers with flash attention");
  const DeepSpeedCaller caller;
  read_deepspeed_degrees(fields, caller);
  read_deepspeed_batch(fields, caller);
  read_deepspeed_sync(fields, caller);
  report_deepspeed_changes(fields, "");
  const std::vector<std::string> names = deepspeed_no_effect("");
  finish_launch(fields.finish({"DeepSpeed edaa722", patterns(names)}), read.lines, out);
}

}  // namespace shardscape
