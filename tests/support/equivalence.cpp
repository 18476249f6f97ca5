#include "support/equivalence.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "design/vision.h"

namespace shardscape::test {
namespace {

constexpr double kRounding = 1e-11;

double difference_of_numbers(const RealTensor& a, const RealTensor& b) {
  if (a.elements() != b.elements()) return INFINITY;
  double worst = 0;
  for (size_t i = 0; i < a.data.size(); ++i) worst = std::max(worst, std::abs(a.data[i] - b.data[i]));
  return worst;
}
double difference(const RealTensor& a, const RealTensor& b) {
  return a.shape == b.shape ? difference_of_numbers(a, b) : INFINITY;
}

// Of [m, b, tokens, ...] the tokens from first on, so many.
RealTensor tokens_of(const RealTensor& all, int64_t first, int64_t count) {
  const int64_t rows = all.shape[0] * all.shape[1], tokens = all.shape[2],
                width = all.elements() / (rows * tokens);
  RealTensor out({all.shape[0], all.shape[1], count, width});
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t i = 0; i < count * width; ++i)
      out.data[static_cast<size_t>(r * count * width +
                                   i)] = all.data[static_cast<size_t>((r * tokens + first) * width + i)];
  return out;
}

// Parameters that gradients train.
size_t trained(const Design& d, const Parameters& parameters) {
  const bool frozen = has_tower(d) &&
                      (!runs_tower(d) || d.workload.vision_training == VisionTraining::Frozen);
  return static_cast<size_t>(std::count_if(parameters.begin(), parameters.end(), [&](const auto& p) {
    if (d.workload.lora_rank > 0) return p.first.find(".lora_") != std::string::npos;
    return !frozen || !(p.first.starts_with("vision_") || p.first.starts_with("projector."));
  }));
}

}  // namespace

Design unsharded(const Design& d) {
  Design out = d;
  out.parallel = {};
  out.workload.recompute = Recompute::None;
  out.workload.compute = ComputePrecision::Storage;
  out.workload.microbatch = d.workload.microbatch * d.parallel.dp;
  return out;
}

std::string difference_from_unsharded(const Design& d, const GraphChange& change) {
  const Parameters parameters = random_parameters(d, 7);
  RunResult expected, got;
  try {
    expected = run_step(unsharded(d), parameters, 11);
    got = run_step(d, parameters, 11, true, ModelLibrary::instance(), change);
  } catch (const std::exception& error) {
    return error.what();
  }
  if (!(std::abs(got.loss - expected.loss) < kRounding))
    return "the loss is " + std::to_string(got.loss) + ", not " + std::to_string(expected.loss);
  if (!(difference(got.token_losses, expected.token_losses) < kRounding)) return "losses of tokens differ";
  if (!(difference(got.last_hidden, expected.last_hidden) < kRounding))
    return "what goes into the head differs";
  if (got.gradients.size() != trained(d, parameters)) return "not every parameter has a gradient";
  for (const auto& [name, gradient] : expected.gradients)
    if (!(difference(gradient, got.gradients.at(name)) < kRounding))
      return "the gradient of " + name + " differs";
  return "";
}

std::string difference_from_slopes(const Design& d, size_t samples, const ModelLibrary& library) {
  Parameters parameters = random_parameters(d, 3, library);
  const RunResult exact = run_step(d, parameters, 5, true, library);
  if (exact.gradients.size() != trained(d, parameters)) return "not every parameter has a gradient";
  constexpr double h = 1e-5;
  for (auto& [name, value] : parameters) {
    if (!exact.gradients.contains(name)) continue;
    for (size_t i = 0; i < value.data.size(); i += 1 + value.data.size() / samples) {
      const double old = value.data[i];
      value.data[i] = old + h;
      const double up = run_step(d, parameters, 5, false, library).loss;
      value.data[i] = old - h;
      const double down = run_step(d, parameters, 5, false, library).loss;
      value.data[i] = old;
      const double slope = (up - down) / (2 * h);
      if (!(std::abs(slope - exact.gradients.at(name).data[i]) < 1e-7 + 1e-5 * std::abs(slope))) return name;
    }
  }
  return "";
}

std::string difference_from_longer(Design d, int64_t prompt, int64_t decode_cp) {
  d.workload.seq = prompt + 1;
  d.model.mtp_layers = 0;  // inference leaves the modules out
  const Parameters parameters = random_parameters(d, 7);
  Design prefill = d, decode = d, longer = unsharded(d);
  longer.workload.seq = prompt + 1;
  longer.workload.dropout = false;
  prefill.workload.mode = Mode::Prefill;
  prefill.workload.seq = prompt;
  decode.workload.mode = Mode::Decode;
  decode.workload.context_length = prompt + 1;
  if (d.parallel.dcp > 1) prefill.parallel.sequence_parallel = false;  // six ranks do not split its tokens
  decode.parallel.cp = decode_cp;                                      // the prompt's ranks hand over
  try {
    const RunResult trained = run_step(longer, parameters, 11, false);
    longer.workload.mode = Mode::Prefill;
    const RunResult whole = run_inference(longer, parameters, {trained.tokens, {}});
    if (!(difference_of_numbers(whole.last_hidden, trained.last_hidden) < kRounding))
      return "what goes into the head of a prefill differs from training";
    const RunResult first = run_inference(prefill, parameters, {trained.tokens, {}});
    if (!(difference_of_numbers(first.last_hidden, tokens_of(trained.last_hidden, 0, prompt)) < kRounding))
      return "what goes into the head of the prompt differs";
    const RunResult next = run_inference(decode, parameters, {trained.tokens, first.caches});
    if (!(difference_of_numbers(next.last_hidden, tokens_of(trained.last_hidden, prompt, 1)) < kRounding))
      return "what goes into the head of the decoded token differs";
    if (!(difference_of_numbers(next.token_losses, whole.token_losses) < kRounding)) return "logits differ";
    if (next.caches.size() != whole.caches.size() || next.caches.empty()) return "other things are kept";
    for (const auto& [name, kept] : next.caches)
      if (!(difference_of_numbers(kept, whole.caches.at(name)) < kRounding))
        return "what is kept as " + name + " differs";
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

}  // namespace shardscape::test
