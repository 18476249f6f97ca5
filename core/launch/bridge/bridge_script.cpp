#include "launch/bridge/bridge_script.h"

#include <algorithm>
#include <map>

#include "launch/bridge/bridge_launch.h"
#include "launch/megatron/megatron_words.h"

namespace shardscape {
namespace {

// Arguments of Megatron-LM whose setting is not "model." and the argument's name, and those that other
// settings imply (empty).
const std::map<std::string, const char*>& setting_names() {
  static const std::map<std::string, const char*> kNames{
      {"--seq-length", "dataset.seq_length"},
      {"--global-batch-size", "train.global_batch_size"},
      {"--micro-batch-size", "train.micro_batch_size"},
      {"--rampup-batch-size", ""},
      {"--max-position-embeddings", ""},
      {"--group-query-attention", ""},
      {"--swiglu", ""},
      {"--squared-relu", ""},
      {"--tokenizer-type", ""},
      {"--vocab-size", "tokenizer.vocab_size"},
      {"--num-experts", "model.num_moe_experts"},
      {"--num-virtual-stages-per-pipeline-rank", "model.virtual_pipeline_model_parallel_size"},
      {"--microbatch-group-size-per-virtual-pipeline-stage", "model.microbatch_group_size_per_vp_stage"},
      {"--moe-token-dispatcher-type", "model.moe_token_dispatcher_type"},
      {"--use-tp-pp-dp-mapping", "dist.use_tp_pp_dp_mapping"},
      {"--use-distributed-optimizer", ""},
      {"--use-torch-fsdp2", "dist.use_torch_fsdp2"},
      {"--torch-fsdp2-no-reshard-after-forward", ""},
      {"--use-megatron-fsdp", "ddp.use_megatron_fsdp"},
      {"--data-parallel-sharding-strategy", "ddp.data_parallel_sharding_strategy"},
      {"--overlap-grad-reduce", "ddp.overlap_grad_reduce"},
      {"--overlap-param-gather", "ddp.overlap_param_gather"},
      {"--ddp-bucket-size", "ddp.bucket_size"},
      {"--num-distributed-optimizer-instances", "ddp.num_distributed_optimizer_instances"},
      {"--clip-grad", "optimizer.clip_grad"},
      {"--optimizer", "optimizer.optimizer"},
      {"--muon-tp-mode", "optimizer.muon_tp_mode"},
      {"--use-precision-aware-optimizer", ""},
      {"--exp-avg-dtype", ""},
      {"--exp-avg-sq-dtype", ""},
      {"--optimizer-cpu-offload", "optimizer.optimizer_cpu_offload"},
      {"--optimizer-offload-fraction", "optimizer.optimizer_offload_fraction"},
      {"--cpu-offloading-num-layers", ""},
      {"--bf16", ""},
      {"--fp16", ""},
      {"--grad-reduce-in-bf16", ""},
      {"--accumulate-allreduce-grads-in-fp32", ""},
      {"--fp8-format", ""},
      {"--fp8-recipe", ""},
      {"--fp8-param-gather", ""},
      {"--fp4-format", ""},
      {"--fp4-recipe", ""},
      {"--cross-entropy-loss-fusion", ""}};
  return kNames;
}

// "--x-y off" is "model.z=false".
const std::map<std::string, const char*>& inverted_names() {
  static const std::map<std::string, const char*> kNames{
      {"--disable-bias-linear", "model.add_bias_linear"},
      {"--untie-embeddings-and-output-weights", "model.share_embeddings_and_output_weights"},
      {"--no-gradient-accumulation-fusion", "model.gradient_accumulation_fusion"}};
  return kNames;
}

std::string setting_of(const MegatronWord& word) {
  if (const auto off = inverted_names().find(word.name); off != inverted_names().end())
    return std::string(off->second) + "=false";
  std::string name = "model." + word.name.substr(2), value = word.value.empty() ? "true" : word.value;
  std::replace(name.begin(), name.end(), '-', '_');
  if (const auto other = setting_names().find(word.name); other != setting_names().end())
    name = other->second;
  if (name.empty()) return {};
  std::replace(value.begin(), value.end(), ' ', ',');
  const bool list = word.name == "--window-size" || word.name == "--recompute-modules" ||
                    word.name == "--hierarchical-context-parallel-sizes";
  return name + "=" + (list ? "[" + value + "]" : value);
}

// What several arguments say together.
std::vector<std::string> joint_settings(const Design& design, const MegatronWords& words) {
  std::map<std::string, std::string> said;
  for (const auto& group : words.groups)
    for (const MegatronWord& word : group.second) said[word.name] = word.value;
  const auto truth = [&](const char* name) { return said.contains(name) ? "true" : "false"; };
  std::vector<std::string> out;
  if (said.contains("--swiglu"))
    out.insert(out.end(), {"model.gated_linear_unit=true", "model.activation_func=silu"});
  if (said.contains("--squared-relu")) out.push_back("model.activation_func=squared_relu");
  for (const char* part : {"ddp", "optimizer"})
    out.push_back(std::string(part) + ".use_distributed_optimizer=" + truth("--use-distributed-optimizer"));
  out.push_back(std::string("model.cross_entropy_loss_fusion=") + truth("--cross-entropy-loss-fusion"));
  const std::string recipe = said.contains("--fp4-recipe") ? "nvfp4" : said["--fp8-recipe"];
  std::string precision = design.workload.dtype == DType::FP16 ? "fp16_" : "bf16_";
  precision += recipe == "delayed"     ? "with_fp8_delayed_scaling_mixed"
               : recipe == "blockwise" ? "with_fp8_subchannel_scaling_mixed"
               : recipe == "mxfp8"     ? "with_mxfp8_mixed"
               : recipe == "nvfp4"     ? "with_nvfp4_mixed"
                                       : "mixed";
  out.push_back("mixed_precision=" + precision);
  return out;
}

}  // namespace

std::variant<LaunchText, Problem> write_bridge_script(const Design& design) {
  const std::string framework = "Megatron-Bridge";
  auto made = megatron_words(design, framework);
  if (auto* problem = std::get_if<Problem>(&made)) return std::move(*problem);
  const MegatronWords& words = std::get<MegatronWords>(made);
  const int64_t gpus = launch_gpus(design), each = launch_gpus_per_node(gpus);
  std::string settings;
  const auto add = [&](const std::string& setting) {
    const size_t sign = setting.find('=') + 1;
    if (!setting.empty())
      settings += "    " + setting.substr(0, sign) + shell_quoted(setting.substr(sign)) + "\n";
  };
  for (const auto& group : words.groups)
    for (const MegatronWord& word : group.second) add(setting_of(word));
  for (const std::string& setting : joint_settings(design, words)) add(setting);
  const std::string
      command = "GPUS_PER_NODE=" + std::to_string(each) + "\nNODES=" + std::to_string(gpus / each) +
                "\n\nOVERRIDES=(\n" + settings +
                "    train.train_iters=100\n)\n\n"
                "torchrun --nproc_per_node $GPUS_PER_NODE --nnodes $NODES --node_rank ${NODE_RANK:-0} \\\n"
                "    --master_addr ${MASTER_ADDR:-localhost} --master_port ${MASTER_PORT:-6000} \\\n"
                "    scripts/training/run_recipe.py --recipe vanilla_gpt_pretrain_config --mode pretrain \\\n"
                "    --dataset ${DATASET:-mock} \"${OVERRIDES[@]}\"\n";
  LaunchText out;
  out.file_name = "launch.sh";
  out.text = "#!/bin/bash\n# " + std::to_string(gpus) +
             " GPUs. Start it in the folder of Megatron-Bridge, once on every node:\n"
             "#   NODE_RANK=0 MASTER_ADDR=the-first-node bash launch.sh\n"
             "# The data are random tokens. For your data: set DATASET, and replace tokenizer.vocab_size by "
             "your\n"
             "# tokenizer (tokenizer.tokenizer_type, tokenizer.tokenizer_model).\n\n" +
             command;
  return with_gaps(design, std::move(out), "megatron-bridge", megatron_gap_reasons(design, framework));
}

}  // namespace shardscape
