// THUDM/slime 1cddc5d: slime/utils/arguments.py, slime/backends/megatron_utils/arguments.py.
#include "launch/rl/slime_launch.h"

#include <algorithm>

#include "launch/launch_parts.h"
#include "launch/megatron/megatron_settings.h"
#include "launch/megatron/megatron_text.h"
#include "launch/megatron/model_arguments.h"

namespace shardscape {
namespace {

constexpr const char* kDefaults = "slime/backends/megatron_utils/arguments.py:72";

// Arguments of rollouts, rewards and data: another step than that of training.
constexpr const char* kNoEffect[] = {"--actor-num-*",
                                     "--rollout-*",
                                     "--sglang-*",
                                     "--hf-checkpoint",
                                     "--ref-load",
                                     "--advantage-estimator",
                                     "--prompt-data",
                                     "--input-key",
                                     "--label-key",
                                     "--apply-chat-*",
                                     "--rm-type",
                                     "--num-rollout",
                                     "--n-samples-*",
                                     "--eval-*",
                                     "--kl-*",
                                     "--entropy-coef",
                                     "--eps-clip*",
                                     "--use-wandb",
                                     "--wandb-*",
                                     "--balance-data",
                                     "--num-steps-per-rollout",
                                     "--update-weight-*",
                                     "--colocate",
                                     "--use-kl-loss",
                                     "--use-tis",
                                     "--over-sampling-*",
                                     "--dynamic-sampling-*",
                                     "--gamma",
                                     "--lambd",
                                     "--use-fault-tolerance",
                                     "--megatron-to-hf-mode",
                                     "--model-name",
                                     "--load",
                                     "--save",
                                     "--save-interval",
                                     "--custom-*",
                                     "--loss-type",
                                     "--num-epoch",
                                     "--only-train-params-name-list",
                                     "--partial-rollout",
                                     "--log-passrate",
                                     "--metadata-key"};

// The samples of a rollout, shared out among its steps. slime asserts that a stated global batch is the same.
void rollout_batch(MegatronSettings& s) {
  const auto steps_text = s.text("--num-steps-per-rollout");
  if (!steps_text) return;
  const auto prompts = whole_number(s.text("--rollout-batch-size").value_or("")),
             samples = whole_number(s.text("--n-samples-per-prompt").value_or("1")),
             steps = whole_number(*steps_text);
  if (!prompts || !samples || !steps || *prompts < 1 || *samples < 1 || *steps < 1)
    return s.misread("--num-steps-per-rollout", "the batch does not follow from these numbers");
  const std::string batch = std::to_string(capped_product({*prompts, *samples}) / *steps);
  if (const auto given = s.text("--global-batch-size"); given && *given != batch)
    return s.misread("--num-steps-per-rollout", "prompts x samples / steps = " + batch +
                                                    " is not --global-batch-size, which slime asserts");
  s.derive("--global-batch-size", batch,
           "--rollout-batch-size x --n-samples-per-prompt / --num-steps-per-rollout "
           "(slime/utils/arguments.py)");
}

void translate(MegatronSettings& s) {
  const bool by_tokens = s.on("--use-dynamic-batch-size");
  const auto tokens = s.text("--max-tokens-per-gpu");
  for (const auto& [name, value] : LaunchArguments(s.document().arguments)) {
    const bool other = std::any_of(
        std::begin(kNoEffect), std::end(kNoEffect),
        [&, &name = name](std::string_view pattern) { return matches_name(pattern, name); });
    if (!other && name != "--use-dynamic-batch-size" && name != "--max-tokens-per-gpu")
      s.put(name, value, name);
  }
  rollout_batch(s);
  s.no_effect(kNoEffect);
  s.assume("--use-distributed-optimizer", "true", kDefaults);
  if (!s.set("--fp16")) s.assume("--bf16", "true", kDefaults);
  if (by_tokens && tokens) {
    const int64_t cp = whole_number(s.argument("--context-parallel-size").value_or("1")).value_or(1),
                  each = whole_number(*tokens).value_or(0);
    if (!s.set("--seq-length") && cp > 0 && each > 0 && each < 1'000'000'000 / cp)
      s.put("--seq-length", std::to_string(each * cp), "--max-tokens-per-gpu");
    s.unmapped(
        "--use-dynamic-batch-size",
        "microbatches hold as many samples as fit --max-tokens-per-gpu x cp tokens; the design has one "
        "sequence of that length in each");
    s.put("--micro-batch-size", "1", "--max-tokens-per-gpu");
  }
  s.assume("--seq-length", "4096", kDefaults);
  if (s.argument("--moe-token-dispatcher-type").value_or("allgather") == "allgather" &&
      s.set("--num-experts"))
    s.put("--moe-token-dispatcher-type", "alltoall", "--moe-token-dispatcher-type");
}

}  // namespace

bool is_slime_launch(std::string_view text) {
  return text.find("--actor-num-nodes") != std::string_view::npos;
}

void read_slime_launch(const LaunchRequest& request, LaunchImport& out) {
  const std::optional<ShellScript> script = read_script(request, out);
  if (!script) return;
  LaunchDocument document;
  for (const ShellCommand& command : script->commands) {
    MegatronText given = megatron_command(command);
    if (!given.arguments.contains("--actor-num-nodes")) continue;
    document = {std::move(given.arguments), std::move(given.lines)};
    break;
  }
  if (document.arguments.empty()) {
    out.problems.emplace_back(ProblemCode::LaunchFormat, request.where,
                              "no command of the script has the argument --actor-num-nodes",
                              "a script of slime that starts train.py");
    return;
  }
  MegatronSettings settings("slime", std::move(document));
  const auto nodes = settings.text("--actor-num-nodes"), each = settings.text("--actor-num-gpus-per-node");
  translate(settings);
  if (!settings.set("--num-layers") &&
      !use_model_arguments(request, settings, settings.text("--hf-checkpoint").value_or(""), out))
    return;
  settings.finish(request, gpus_of(whole_number(nodes.value_or("")), whole_number(each.value_or("8"))),
                  "--actor-num-nodes x --actor-num-gpus-per-node", out);
}

}  // namespace shardscape
