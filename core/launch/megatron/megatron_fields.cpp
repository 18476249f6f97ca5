#include "launch/megatron/megatron_fields.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace shardscape {
namespace {

// Arguments that change neither memory nor operations of a training step: data, checkpoints, logging,
// learning rates, initial weights and validation. A final '*' stands for any ending.
constexpr const char* kNoEffect[] = {"--adam-*",
                                     "--apply-layernorm-1p",
                                     "--apply-query-key-layer-scaling",
                                     "--async-save",
                                     "--async-strategy",
                                     "--attention-softmax-in-fp32",
                                     "--auto-detect-ckpt-format",
                                     "--bert-*",
                                     "--beta-*",
                                     "--block-data-path",
                                     "--calculate-per-token-loss",
                                     "--check-for-*",
                                     "--check-weight-hash-across-dp-replicas-interval",
                                     "--ckpt-*",
                                     "--consumed-*",
                                     "--data-cache-*",
                                     "--data-parallel-random-init",
                                     "--data-parallel-size",
                                     "--data-path",
                                     "--data-sharding",
                                     "--dataloader-type",
                                     "--dataset",
                                     "--dataset-*",
                                     "--ddp-average-in-collective",
                                     "--decoupled-*",
                                     "--disable-gloo-process-groups",
                                     "--dist-ckpt-*",
                                     "--distributed-backend",
                                     "--distributed-timeout-minutes",
                                     "--enable-experimental",
                                     "--enable-one-logger",
                                     "--end-weight-decay",
                                     "--eod-mask-loss",
                                     "--error-injection-*",
                                     "--eval-*",
                                     "--exit-*",
                                     "--fim-*",
                                     "--fp8-amax-*",
                                     "--fp8-interval",
                                     "--fp8-margin",
                                     "--hysteresis",
                                     "--ict-*",
                                     "--inference-*",
                                     "--init-method-std",
                                     "--init-method-xavier-uniform",
                                     "--initial-loss-scale",
                                     "--iteration",
                                     "--load",
                                     "--local-rank",
                                     "--log-*",
                                     "--logging-level",
                                     "--loss-scale",
                                     "--loss-scale-window",
                                     "--lr",
                                     "--lr-*",
                                     "--manual-gc",
                                     "--manual-gc-interval",
                                     "--mask-*",
                                     "--max-padding-length",
                                     "--max-tokens-to-oom",
                                     "--merge-file",
                                     "--min-loss-scale",
                                     "--min-lr",
                                     "--mock-data",
                                     "--moe-aux-loss-coeff",
                                     "--moe-per-layer-logging",
                                     "--moe-router-bias-update-rate",
                                     "--moe-router-load-balancing-type",
                                     "--moe-router-topk-scaling-factor",
                                     "--moe-z-loss-coeff",
                                     "--mscale",
                                     "--mscale-all-dim",
                                     "--mtp-loss-scaling-factor",
                                     "--no-check-for-nan-in-loss-and-grad",
                                     "--no-create-attention-mask-in-dataloader",
                                     "--no-load-*",
                                     "--no-mmap-bin-files",
                                     "--no-save-*",
                                     "--norm-epsilon",
                                     "--num-dataset-builder-threads",
                                     "--num-workers",
                                     "--one-logger-*",
                                     "--original-max-position-embeddings",
                                     "--override-opt-param-scheduler",
                                     "--params-dtype",
                                     "--override-opt_param-scheduler",
                                     "--profile",
                                     "--profile-*",
                                     "--rank",
                                     "--rerun-mode",
                                     "--result-rejected-*",
                                     "--retriever-*",
                                     "--rotary-base",
                                     "--rotary-scaling-factor",
                                     "--rotary-seq-len-interpolation-factor",
                                     "--save",
                                     "--save-*",
                                     "--seed",
                                     "--sgd-momentum",
                                     "--split",
                                     "--start-weight-decay",
                                     "--straggler-*",
                                     "--tensorboard-*",
                                     "--test-*",
                                     "--tiktoken-*",
                                     "--timing-*",
                                     "--tokenizer-hf-*",
                                     "--tokenizer-model",
                                     "--tokenizer-special-tokens",
                                     "--tp-comm-overlap-cfg",
                                     "--train-*",
                                     "--transformer-pipeline-model-parallel-size",
                                     "--use-checkpoint-opt_param-scheduler",
                                     "--use-mcore-models",
                                     "--use-persistent-ckpt-worker",
                                     "--use-pytorch-profiler",
                                     "--use-rope-scaling",
                                     "--valid-*",
                                     "--variable-seq-lengths",
                                     "--verify-integrity",
                                     "--virtual-pipeline-model-parallel-size",
                                     "--vocab-extra-ids",
                                     "--vocab-file",
                                     "--wandb-*",
                                     "--weight-decay",
                                     "--weight-decay-incr-style"};

// Arguments that change the step, though no setting says so.
constexpr std::pair<const char*, const char*> kChanges[] = {
    {"--deterministic-mode", "deterministic kernels are slower"},
    {"--reset-attention-mask", "attention sees one document; packed_length would say how long"},
    {"--reset-position-ids", "positions start anew in every document; packed_length would say how long"},
    {"--use-checkpoint-args", "the arguments of the checkpoint replace those of the launch"}};

constexpr const char* kOfMindSpeed[] = {
    "--context-parallel-algo", "--reuse-fp32-param",  "--schedules-method", "--swap-optimizer",
    "--use-ascend-coc",        "--use-fused-rmsnorm", "--use-fused-swiglu", "--use-fused-rotary-pos-emb"};

}  // namespace

bool is_mindspeed(const LaunchArguments& arguments) {
  return std::any_of(std::begin(kOfMindSpeed), std::end(kOfMindSpeed),
                     [&](const char* argument) { return arguments.contains(argument); });
}

LaunchDesign MegatronFields::finish() {
  LaunchRules rules{"Megatron-LM d98e8a6", kNoEffect, kChanges};
  if (is_mindspeed(arguments())) rules.unknown = "an argument of MindSpeed, which is not understood";
  rules.knows = [this](const std::string& argument) { return flags_.knows(argument); };
  rules.is_default = [this](const std::string& argument, const std::string& value) {
    return flags_.is_default(argument, value);
  };
  return LaunchFields::finish(rules);
}

}  // namespace shardscape
