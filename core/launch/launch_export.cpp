#include "launch/launch_export.h"

#include <algorithm>

#include "launch/bridge/bridge_script.h"
#include "launch/deepspeed/deepspeed_export.h"
#include "launch/maxtext/maxtext_export.h"
#include "launch/megatron/megatron_script.h"
#include "launch/server/server_writer.h"
#include "launch/torchtitan/torchtitan_export.h"

namespace shardscape {
namespace {

struct Writer {
  LaunchFramework framework;
  std::variant<LaunchText, Problem> (*write)(const Design& design);
};

// One row per framework.
const std::vector<Writer>& writers() {
  static const std::vector<Writer> kWriters{
      {{"megatron-lm", "Megatron-LM", "a script that starts pretrain_gpt.py with torchrun"},
       write_megatron_script},
      {{"megatron-bridge", "Megatron-Bridge",
        "a script that starts a recipe with run_recipe.py and overrides"},
       write_bridge_script},
      {{"deepspeed", "DeepSpeed", "a script of Megatron-DeepSpeed with the JSON of DeepSpeed"},
       export_deepspeed},
      {{"vllm", "vLLM", "a script with vllm serve"}, write_vllm_launch},
      {{"sglang", "SGLang", "a script with sglang.launch_server"}, write_sglang_launch},
      {{"trtllm", "TensorRT-LLM", "a script with trtllm-serve and its options"}, write_trtllm_launch},
      {{"torchtitan", "torchtitan", "TOML file of v0.2.2"}, write_torchtitan},
      {{"maxtext", "MaxText", "command line"}, write_maxtext}};
  return kWriters;
}

}  // namespace

const std::vector<LaunchFramework>& launch_export_frameworks() {
  static const std::vector<LaunchFramework> kFrameworks = [] {
    std::vector<LaunchFramework> out;
    for (const Writer& writer : writers()) out.push_back(writer.framework);
    return out;
  }();
  return kFrameworks;
}

std::variant<LaunchText, Problem> export_launch(const Design& design, std::string_view framework) {
  const auto chosen = std::find_if(writers().begin(), writers().end(),
                                   [&](const Writer& one) { return one.framework.id == framework; });
  if (chosen != writers().end()) return chosen->write(design);
  std::string known;
  for (const Writer& writer : writers())
    known += (known.empty() ? "" : ", ") + std::string(writer.framework.id);
  return Problem{ProblemCode::LaunchFormat, "--as",
                 "\"" + std::string(framework) + "\" is no framework that designs are written for",
                 "one of " + known};
}

}  // namespace shardscape
