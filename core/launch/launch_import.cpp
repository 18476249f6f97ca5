#include "launch/launch_import.h"

#include <algorithm>

#include "launch/deepspeed/deepspeed_launch.h"
#include "launch/deepspeed/megatron_deepspeed.h"
#include "launch/megatron/megatron_launch.h"
#include "launch/trainer/trainer_launch.h"

namespace shardscape {
namespace {

struct Reader {
  LaunchFramework framework;
  bool (*recognises)(std::string_view text);
  void (*read)(const LaunchRequest& request, LaunchImport& out);
};

const std::vector<Reader>& readers() {
  static const std::vector<Reader> kReaders{
      {{"megatron-deepspeed", "Megatron-DeepSpeed",
        "scripts and command lines with --num-layers and --deepspeed"},
       is_megatron_deepspeed,
       read_megatron_deepspeed},
      {{"megatron-lm", "Megatron-LM",
        "scripts and command lines with --num-layers, and argument dumps in logs"},
       is_megatron_launch,
       read_megatron_launch},
      {{"deepspeed-json", "DeepSpeed", "JSON settings of DeepSpeed"}, is_deepspeed_json, read_deepspeed_json},
      {{"axolotl", "axolotl", "YAML files"}, is_axolotl_yaml, read_axolotl_yaml},
      {{"llama-factory", "LLaMA-Factory", "YAML files"}, is_llama_factory_yaml, read_llama_factory_yaml},
      {{"accelerate", "accelerate", "YAML files of accelerate config"},
       is_accelerate_config,
       read_accelerate_config},
      {{"transformers", "Hugging Face transformers",
        "scripts and command lines with TrainingArguments, or with the YAML of a trainer"},
       is_trainer_script,
       read_trainer_script}};
  return kReaders;
}

std::string accepted_frameworks() {
  std::string out = "one of ";
  for (const Reader& reader : readers())
    out += (out == "one of " ? "" : ", ") + std::string(reader.framework.id);
  return out;
}

}  // namespace

const std::vector<LaunchFramework>& launch_frameworks() {
  static const std::vector<LaunchFramework> kFrameworks = [] {
    std::vector<LaunchFramework> out;
    for (const Reader& reader : readers()) out.push_back(reader.framework);
    return out;
  }();
  return kFrameworks;
}

LaunchImport import_launch(const LaunchRequest& request) {
  LaunchImport out;
  const auto chosen = std::find_if(readers().begin(), readers().end(), [&](const Reader& reader) {
    return request.framework.empty() ? reader.recognises(request.text)
                                     : reader.framework.id == request.framework;
  });
  if (chosen == readers().end()) {
    out.problems.emplace_back(ProblemCode::LaunchFormat, request.framework.empty() ? request.where : "--as",
                              request.framework.empty()
                                  ? "the text is no launch of a known framework"
                                  : "\"" + request.framework + "\" is no known framework",
                              accepted_frameworks());
    return out;
  }
  out.framework = chosen->framework.id;
  chosen->read(request, out);
  return out;
}

bool looks_like_launch(std::string_view text) {
  return std::any_of(readers().begin(), readers().end(),
                     [&](const Reader& reader) { return reader.recognises(text); });
}

}  // namespace shardscape
