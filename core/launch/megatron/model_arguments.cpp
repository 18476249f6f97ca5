#include "launch/megatron/model_arguments.h"

#include "design/design.h"
#include "launch/launch_parts.h"
#include "launch/megatron/megatron_words.h"
#include "model/preset_names.h"

namespace shardscape {

bool use_model_arguments(const LaunchRequest& request, MegatronSettings& settings, const std::string& named,
                         LaunchImport& out) {
  const std::string& name = request.model.empty() ? named : request.model;
  const std::string preset = preset_id_of_name(name);
  Design design;
  if (preset.empty() || !apply_preset(design, preset)) {
    out.problems.emplace_back(
        ProblemCode::LaunchFormat, request.where,
        name.empty() ? "the file names no model" : "the sizes of the model \"" + name + "\" are not known",
        "--model with a preset (shardscape-cli presets); import a config.json to make one");
    return false;
  }
  const auto words = megatron_model_words(design);
  if (const auto* problem = std::get_if<Problem>(&words)) {
    out.problems.emplace_back(problem->code, request.where, problem->what, problem->accepted);
    return false;
  }
  for (const MegatronWord& word : std::get<0>(words))
    if (word.name != "--seq-length" &&
        (word.name != "--max-position-embeddings" || design.model.positions > 0))
      settings.derive(word.name, word.value.empty() ? "true" : word.value, "of the preset " + preset);
  return true;
}

int64_t tokenizer_entries(const std::string& name) {
  if (const Preset* preset = preset_of_name(name)) return preset->model.vocab;
  // Sizes of the vocabularies in the config.json files of these models.
  static constexpr std::pair<const char*, int64_t> kEntries[] = {
      {"llama31", 128256},       {"llama3", 128256},      {"llama2", 32000},      {"mixtral", 32000},
      {"mistralnemo", 131072},   {"mistral7bv01", 32000}, {"deepseekv2", 102400}, {"deepseekv3", 129280},
      {"kimik2", 163840},        {"qwen3", 151936},       {"gpt2bpe", 50257},     {"gpt2vocab", 50257},
      {"llamatokenizer", 32000}, {"glm4", 151552}};
  std::string wanted = name;
  std::transform(wanted.begin(), wanted.end(), wanted.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  std::erase_if(wanted, [](unsigned char c) { return !std::isalnum(c); });
  for (const auto& [part, entries] : kEntries)
    if (wanted.find(part) != std::string::npos) return entries;
  return 0;
}

}  // namespace shardscape
