#include "launch/megatron/megatron_script.h"

#include <algorithm>

#include "base/version.h"
#include "design/cluster.h"
#include "launch/megatron/megatron_words.h"

namespace shardscape {
namespace {

// Values of several words stay several words.
std::string quoted(const std::string& value) {
  return value.find(' ') == std::string::npos ? shell_quoted(value) : value;
}

}  // namespace

std::variant<LaunchText, Problem> write_megatron_script(const Design& design) {
  auto made = megatron_words(design, "Megatron-LM");
  if (auto* problem = std::get_if<Problem>(&made)) return std::move(*problem);
  const MegatronWords& words = std::get<MegatronWords>(made);
  const int64_t gpus = launch_gpus(design), each = launch_gpus_per_node(gpus);
  LaunchText out;
  out.file_name = "launch.sh";
  std::string& text = out.text;
  text =
      "#!/bin/bash\n"
      "# " +
      std::to_string(gpus) +
      " GPUs. Start it in the folder of Megatron-LM, once on every node:\n"
      "#   NODE_RANK=0 MASTER_ADDR=the-first-node bash launch.sh\n"
      "# The data are random tokens. For your data: set TRAINING_DATA to --data-path PATH, and replace\n"
      "# --tokenizer-type NullTokenizer and --vocab-size by your tokenizer (--tokenizer-model).\n"
      "export CUDA_DEVICE_MAX_CONNECTIONS=1\n\n"
      "GPUS_PER_NODE=" +
      std::to_string(each) + "\nNODES=" + std::to_string(gpus / each) +
      "\n"
      "TRAINING_DATA=${TRAINING_DATA:-\"--mock-data\"}\n\n";
  text += "ARGUMENTS=(\n";
  for (const auto& [heading, group] : words.groups) {
    if (group.empty()) continue;
    text += std::string("    # ") + heading + "\n";
    for (const MegatronWord& word : group)
      text += "    " + word.name + (word.value.empty() ? "" : " " + quoted(word.value)) + "\n";
  }
  text +=
      "    # Training run\n"
      "    --train-iters 100\n"
      "    --lr 1e-4\n"
      "    --eval-iters 0\n"
      "    --log-interval 1\n"
      "    --log-throughput\n"
      ")\n\n"
      "torchrun --nproc_per_node $GPUS_PER_NODE --nnodes $NODES --node_rank ${NODE_RANK:-0} \\\n"
      "    --master_addr ${MASTER_ADDR:-localhost} --master_port ${MASTER_PORT:-6000} \\\n"
      "    pretrain_gpt.py \"${ARGUMENTS[@]}\" $TRAINING_DATA\n";
  return with_gaps(design, std::move(out), "megatron-lm", megatron_gap_reasons(design, "Megatron-LM"));
}

}  // namespace shardscape
