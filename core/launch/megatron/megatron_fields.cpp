#include "launch/megatron/megatron_fields.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "design/knobs/knob_state.h"
#include "design/knobs/knobs.h"

namespace shardscape {
namespace {

constexpr int64_t kLargest = 1'000'000'000'000;  // products of a few sizes still fit

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
                                     "--reset-*",
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
    {"--use-checkpoint-args", "the arguments of the checkpoint replace those of the launch"}};

bool matches(std::string_view pattern, std::string_view argument) {
  return pattern.ends_with('*') ? argument.starts_with(pattern.substr(0, pattern.size() - 1))
                                : argument == pattern;
}

bool has_no_effect(std::string_view argument) {
  return std::any_of(std::begin(kNoEffect), std::end(kNoEffect),
                     [&](std::string_view known) { return matches(known, argument); });
}

// Severe uses replace milder ones of the same argument.
bool is_more_severe(LaunchUse a, LaunchUse b) { return static_cast<int>(a) > static_cast<int>(b); }

}  // namespace

std::optional<std::string> MegatronFields::text(const std::string& argument) {
  const auto it = arguments_.find(argument);
  if (it == arguments_.end()) return std::nullopt;
  used_.insert(argument);
  return it->second;
}

int64_t MegatronFields::number(const std::string& argument, int64_t otherwise) {
  const auto found = text(argument);
  if (!found) return otherwise;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(found->data(), found->data() + found->size(), value);
  const bool whole = error == std::errc() && end == found->data() + found->size();
  if (whole && value >= -kLargest && value <= kLargest) return value;
  misread(argument, *found == "true" ? "the argument has no value: a variable of the script is empty"
                    : whole          ? "the number is too large"
                                     : "\"" + *found + "\" is not a whole number");
  return otherwise;
}

void MegatronFields::note(LaunchUse use, const std::string& argument, const std::string& value,
                          const std::string& knob, const std::string& reason, const std::string& source) {
  auto it = std::find_if(out_.fields.begin(), out_.fields.end(),
                         [&](const LaunchField& one) { return one.name == argument; });
  if (it == out_.fields.end()) it = out_.fields.insert(it, {use, argument, value, {}, reason, source, 0});
  if (!knob.empty() && std::find(it->knobs.begin(), it->knobs.end(), knob) == it->knobs.end())
    it->knobs.push_back(knob);
  if (!is_more_severe(use, it->use)) return;
  it->use = use;
  it->note = reason;
  it->source = source;
}

void MegatronFields::set(const char* knob, const std::string& value, const std::string& argument) {
  if (const auto problem = set_knob(out_.design, *find_knob(knob), value))
    return unmapped(argument, to_string(*problem));
  const auto given = arguments_.find(argument);
  if (given != arguments_.end())
    note(LaunchUse::Taken, argument, given->second, knob);
  else
    note(LaunchUse::Assumed, argument, value, knob, "default of Megatron-LM");
}

void MegatronFields::set_effective(const char* knob, const std::string& value, const std::string& argument) {
  if (const auto reason = without_effect(out_.design, *find_knob(knob))) return unmapped(argument, *reason);
  set(knob, value, argument);
}

void MegatronFields::set_architecture(const std::string& architecture, const std::string& argument) {
  out_.design.model.architecture = architecture;
  const auto given = arguments_.find(argument);
  note(given != arguments_.end() ? LaunchUse::Taken : LaunchUse::Assumed, argument,
       given != arguments_.end() ? given->second : architecture, "architecture",
       given != arguments_.end() ? "" : "default of Megatron-LM");
}

void MegatronFields::derive(const char* knob, const std::string& value, const std::string& argument,
                            const std::string& rule, const std::string& source) {
  if (has(argument)) return set(knob, value, argument);
  if (const auto problem = set_knob(out_.design, *find_knob(knob), value))
    return unmapped(argument, to_string(*problem));
  note(LaunchUse::Derived, argument, value, knob, rule, source);
}

void MegatronFields::ignore(const std::string& pattern, const std::string& reason) {
  for (const auto& [argument, value] : arguments_) {
    if (!matches(pattern, argument)) continue;
    used_.insert(argument);
    note(LaunchUse::NoEffect, argument, value, "", reason);
  }
}

void MegatronFields::leave_out(LaunchUse use, const std::string& argument, const std::string& reason) {
  const auto same = [&](const UnmappedArgument& one) { return one.argument == argument; };
  if (std::none_of(out_.unmapped.begin(), out_.unmapped.end(), same))
    out_.unmapped.push_back({argument, reason});
  const auto given = arguments_.find(argument);
  note(use, argument, given == arguments_.end() ? "" : given->second, "", reason);
}

LaunchDesign MegatronFields::finish() {
  for (const auto& [argument, reason] : kChanges)
    if (text(argument)) unmapped(argument, reason);
  for (const auto& entry : arguments_) {
    const std::string &argument = entry.first, &value = entry.second;
    const bool unread = !used_.contains(argument) && !has_no_effect(argument);
    if (unread && flags_.is_default(argument, value))
      note(LaunchUse::NoEffect, argument, value, "", "the default");
    else if (unread && !flags_.knows(argument))
      misread(argument, "Megatron-LM d98e8a6 has no such argument");
    else if (unread)
      unmapped(argument, "a design has no counterpart");
    else if (std::none_of(out_.fields.begin(), out_.fields.end(),
                          [&](const LaunchField& one) { return one.name == argument; }))
      note(used_.contains(argument) ? LaunchUse::Taken : LaunchUse::NoEffect, argument, value, "");
  }
  return std::move(out_);
}

}  // namespace shardscape
