#include "support/attention_kernels.h"

#include <algorithm>
#include <cmath>

#include "support/kernel_base.h"
#include "support/kernel_numbers.h"

namespace shardscape::test {
namespace {

class AttentionKernel : private KernelBase {
 public:
  using KernelBase::KernelBase;

  std::vector<RealTensor> run() {
    if (c_.op.kind == OpKind::MergeParts)
      merge_parts();
    else
      c_.op.grad != GradRole::None ? attention_backward() : attention();
    return std::move(out_);
  }

 private:
  const AttentionAttributes& flags() const { return attention_attributes(c_.op); }
  // Index of (batch, position, head, 0) in [b, s, h, e].
  static int64_t row(const RealTensor& t, int64_t b, int64_t s, int64_t h) {
    if (t.shape.size() == 3) return (b * t.shape[1] + s) * t.shape[2];  // all heads share latents
    return ((b * t.shape[1] + s) * t.shape[2] + h) * t.shape[3];
  }
  double score(const RealTensor& q, const RealTensor& k, int64_t qi, int64_t ki) const {
    double dot = 0;
    for (int64_t e = 0; e < q.shape[3]; ++e) dot += at(q, qi + e) * at(k, ki + e);
    return dot / std::sqrt(static_cast<double>(c_.score_width > 0 ? c_.score_width : q.shape[3]));
  }
  int64_t kv_head(int64_t head, size_t q, size_t k) const {
    return (c_.input_starts[q][2] + head) / c_.heads_per_kv - c_.input_starts[k][2];
  }
  // Whether the query of a head attends to the key at this position.
  bool is_picked(int64_t b, int64_t s, int64_t head, int64_t key, size_t q) const {
    const auto i = static_cast<size_t>(c_.picked);
    const RealTensor& picked = in(i);
    const int64_t count = picked.shape.back(), block = std::max<int64_t>(1, c_.index_block);
    const bool of_heads = picked.shape.size() == 4;
    const int64_t line = (b * picked.shape[1] + s) * (of_heads ? picked.shape[2] : 1) +
                         (of_heads ? kv_head(head, q, i) : 0);
    for (int64_t p = 0; p < count; ++p)
      if (std::llround(at(picked, line * count + p)) == key / block) return true;
    return false;
  }
  bool masked(int64_t b, int64_t head, int64_t s, int64_t t, size_t q, size_t k) const {
    if (flags().ring != Ring::None) return ring_masked(s, t, q, k);
    if (c_.picked >= 0 && c_.compressed < 0 && !is_picked(b, s, head, position(k, t), q)) return true;
    const int64_t back = position(q, s) - position(k, t);
    return (flags().causal && back < 0) || (flags().window && back >= c_.window) ||
           (flags().packed && position(q, s) / c_.document != position(k, t) / c_.document) ||
           (flags().chunk && position(q, s) / c_.chunk != position(k, t) / c_.chunk);
  }
  // A query sees the compressed keys of whole blocks of tokens up to itself, or those that it picks.
  bool hides(int64_t b, int64_t head, int64_t s, int64_t j, size_t q) const {
    const int64_t place = position(static_cast<size_t>(c_.compressed), j);
    return (flags().causal && place + c_.compress_ratio > position(q, s) + 1) ||
           (c_.picked >= 0 && !is_picked(b, s, head, place / c_.compress_ratio, q));
  }
  const RealTensor* entries() const {
    return c_.compressed < 0 ? nullptr : c_.inputs[static_cast<size_t>(c_.compressed)];
  }
  // exp(score) of every compressed key for the query.
  std::vector<double> entry_scores(const RealTensor& q, int64_t b, int64_t h, int64_t s, size_t q_at) const {
    std::vector<double> out;
    for (int64_t j = 0; entries() && j < entries()->shape[1]; ++j)
      out.push_back(hides(b, h, s, j, q_at)
                        ? 0
                        : std::exp(score(q, *entries(), row(q, b, s, h), row(*entries(), b, j, 0))));
    return out;
  }

  // The ring step in which this rank processes a key.
  int64_t ring_step(int64_t t, size_t k) const {
    const int64_t ranks = c_.ring_ranks, keys = static_cast<int64_t>(c_.input_positions[k].size());
    const bool zigzag = flags().ring == Ring::Zigzag;
    const int64_t block = position(k, t) / (keys / (zigzag ? 2 * ranks : ranks)),
                  owner = zigzag ? std::min(block, 2 * ranks - 1 - block) : block;
    return (c_.ring_position - owner + ranks) % ranks;
  }
  // In a ring, causal masks apply within the rank's own block. Other blocks are processed whole or not at
  // all; with zigzag by halves: half of the keys from ranks before, half of the queries for ranks after.
  bool ring_masked(int64_t s, int64_t t, size_t q, size_t k) const {
    if (!flags().causal) return false;
    const int64_t step = ring_step(t, k);
    if (step == 0) return position(k, t) > position(q, s);
    if (flags().ring == Ring::Plain) return step > c_.ring_position;
    const auto half = [&](int64_t place, size_t of_all) { return place < static_cast<int64_t>(of_all) / 2; };
    if (step <= c_.ring_position) return !half(position(k, t), c_.input_positions[k].size());
    return half(s, c_.input_positions[q].size());
  }
  // Transforms a raw score before the softmax: soft cap, then ALiBi's penalty on the distance, which halves
  // from head to head.
  double shaped(double raw, int64_t h, int64_t s, int64_t t, size_t q, size_t k) const {
    if (flags().soft_cap) raw = kCap * std::tanh(raw / kCap);
    if (!flags().alibi) return raw;
    const auto back = static_cast<double>(position(q, s) - position(k, t));
    return raw - back * std::pow(2.0, -1.0 - static_cast<double>(c_.input_starts[q][2] + h));
  }
  double shape_slope(double raw) const {
    return flags().soft_cap ? 1 - std::pow(std::tanh(raw / kCap), 2) : 1;
  }

  // The sink logit of head h, which counts only in the sum of the softmax. The rank may store sinks of more
  // heads than it computes.
  static double sink(const RealTensor* sinks, int64_t at_head) {
    return sinks ? std::exp(at(*sinks, at_head)) : 0;
  }

  // Repeats KV heads for every query head.
  void expand(const std::string& statistic, const RealTensor& kv) {
    RealTensor* out = output(statistic);
    if (!out) return;
    const int64_t heads = out->shape[2], width = out->shape[3];
    for (int64_t r = 0; r < out->elements() / width; ++r)
      for (int64_t e = 0; e < width; ++e)
        at(*out, r * width + e) = at(
            kv, row(kv, r / heads / kv.shape[1], r / heads % kv.shape[1], kv_head(r % heads, 0, 1)) + e);
  }

  // Processes blocks in ring order. Merges the result so far with the result of the new block by their
  // log-sum-exp.
  void ring_attention() {  // q, k, v
    const RealTensor &q = in(0), &k = in(1), &v = in(2);
    for (int64_t b = 0; b < q.shape[0]; ++b)
      for (int64_t h = 0; h < q.shape[2]; ++h)
        for (int64_t s = 0; s < q.shape[1]; ++s) {
          const int64_t g = kv_head(h, 0, 1), qi = row(q, b, s, h), oi = row(out_[0], b, s, h);
          double lse = -INFINITY;
          for (int64_t step = 0; step < c_.ring_ranks; ++step) {
            double total = 0;
            std::vector<double> sum(static_cast<size_t>(v.shape[3]), 0.0);
            for (int64_t t = 0; t < k.shape[1]; ++t) {
              if (ring_step(t, 1) != step || masked(b, h, s, t, 0, 1)) continue;
              const double weight = std::exp(shaped(score(q, k, qi, row(k, b, t, g)), h, s, t, 0, 1));
              total += weight;
              for (int64_t e = 0; e < v.shape[3]; ++e)
                sum[static_cast<size_t>(e)] += weight * at(v, row(v, b, t, g) + e);
            }
            if (total == 0) continue;
            const double joined = std::log(std::exp(lse) + total);
            for (int64_t e = 0; e < v.shape[3]; ++e)
              at(out_[0], oi + e) = at(out_[0], oi + e) * std::exp(lse - joined) +
                                    sum[static_cast<size_t>(e)] * std::exp(-joined);
            lse = joined;
          }
          if (RealTensor* kept = output("lse")) at(*kept, (b * q.shape[2] + h) * q.shape[1] + s) = lse;
        }
  }
  void attention() {  // q, k, v, optional sinks
    if (flags().ring != Ring::None) return ring_attention();
    const RealTensor &q = in(0), &k = in(1), &v = in(2);
    expand("keys", k);
    expand("values", v);
    if (RealTensor* copy = output("contiguous_values")) copy->data = v.data;
    RealTensor *lse = output("lse"), *softmax = output("softmax"), *mask = output("mask"),
               *dropped = output("dropped");
    RealTensor *probabilities = output("probabilities"), *capped = output("capped");
    const size_t last = c_.inputs.size() - 1;
    const RealTensor* sinks = in(last).shape.size() == 1 ? &in(last) : nullptr;
    const int64_t keys = k.shape[1],
                  first_head = sinks ? c_.input_starts[0][2] - c_.input_starts[last][0] : 0;
    std::vector<double> p(static_cast<size_t>(keys));
    for (int64_t b = 0; b < q.shape[0]; ++b)
      for (int64_t h = 0; h < q.shape[2]; ++h)
        for (int64_t s = 0; s < q.shape[1]; ++s) {
          const int64_t g = kv_head(h, 0, 1), qi = row(q, b, s, h),
                        line = (b * q.shape[2] + h) * q.shape[1] + s;
          double total = sink(sinks, first_head + h);
          for (int64_t t = 0; t < keys; ++t) {
            p[static_cast<size_t>(t)] = masked(b, h, s, t, 0, 1)
                                            ? 0
                                            : std::exp(
                                                  shaped(score(q, k, qi, row(k, b, t, g)), h, s, t, 0, 1));
            total += p[static_cast<size_t>(t)];
          }
          const std::vector<double> of_entries = entry_scores(q, b, h, s, 0);
          for (const double weight : of_entries) total += weight;
          if (lse) at(*lse, line) = std::log(total);
          for (int64_t j = 0; j < std::ssize(of_entries); ++j)
            for (int64_t e = 0; e < v.shape.back(); ++e)
              at(out_[0], row(out_[0], b, s, h) + e) += of_entries[static_cast<size_t>(j)] / total *
                                                        at(*entries(), row(*entries(), b, j, 0) + e);
          for (int64_t t = 0; t < keys; ++t) {
            double weight = p[static_cast<size_t>(t)] / total;
            if (softmax) at(*softmax, line * keys + t) = weight;
            if (probabilities) at(*probabilities, line * keys + t) = weight;
            if (capped)
              at(*capped, line * keys + t) = kCap * std::tanh(score(q, k, qi, row(k, b, t, g)) / kCap);
            if (mask) {
              const bool keep = kept(c_.input_starts[0][0] + b, c_.input_starts[0][2] + h, position(0, s),
                                     position(1, t));
              at(*mask, line * keys + t) = keep;
              weight = keep ? weight / kKeep : 0;
            }
            if (dropped) at(*dropped, line * keys + t) = weight;
            for (int64_t e = 0; e < v.shape.back(); ++e)
              at(out_[0], row(out_[0], b, s, h) + e) += weight * at(v, row(v, b, t, g) + e);
          }
        }
  }
  // Inputs: g, q, k, v, optional sinks, then either output and log-sum-exp (recomputes the scores) or the
  // saved scores. Depending on the profile, k and v are expanded or v is a copy.
  void attention_backward() {
    const bool expanded = place("keys") != 0;
    const bool copied = place("contiguous_values") != 0;
    const size_t k_at = expanded ? place("keys") : 2, sinks_at = (expanded ? 2
                                                                  : copied ? 3
                                                                           : 4) +
                                                                 (c_.picked >= 0 ? 1 : 0) +
                                                                 (c_.compressed >= 0 ? 1 : 0);
    const size_t sinks_grad = c_.compressed >= 0 ? 4 : 3;
    const size_t out_at = sinks_at + (out_.size() > sinks_grad ? 1 : 0);
    const RealTensor* sinks = out_.size() > sinks_grad ? &in(sinks_at) : nullptr;
    const int64_t first_head = sinks ? c_.input_starts[1][2] - c_.input_starts[sinks_at][0] : 0;
    const RealTensor &go = in(0), &q = in(1), &k = in(k_at),
                     &v = expanded ? *input("values")
                          : copied ? *input("contiguous_values")
                                   : in(3);
    const RealTensor *lse = input("lse"), *softmax = input("softmax"), *mask = input("mask"),
                     *dropped = input("dropped");
    const double scale = 1 / std::sqrt(static_cast<double>(c_.score_width > 0 ? c_.score_width : q.shape[3]));
    const int64_t keys = k.shape[1];
    std::vector<double> p(static_cast<size_t>(keys)), dp(static_cast<size_t>(keys));
    for (int64_t b = 0; b < q.shape[0]; ++b)
      for (int64_t h = 0; h < q.shape[2]; ++h)
        for (int64_t s = 0; s < q.shape[1]; ++s) {
          const int64_t own = (c_.input_starts[1][2] + h) / c_.heads_per_kv - c_.output_starts[1][2],
                        g = expanded ? h : own;
          const int64_t qi = row(q, b, s, h), gi = row(go, b, s, h),
                        line = (b * q.shape[2] + h) * q.shape[1] + s;
          double delta = 0;
          for (int64_t t = 0; t < keys; ++t) {
            const auto i = static_cast<size_t>(t);
            const int64_t ki = row(k, b, t, g);
            p[i] = softmax ? at(*softmax, line * keys + t)
                   : masked(b, h, s, t, 1, k_at)
                       ? 0
                       : std::exp(shaped(score(q, k, qi, ki), h, s, t, 1, k_at) - at(*lse, line));
            const double weight = dropped ? at(*dropped, line * keys + t) : p[i];
            double dot = 0;
            for (int64_t e = 0; e < v.shape.back(); ++e) {
              dot += at(go, gi + e) * at(v, row(v, b, t, g) + e);
              at(out_[2], row(out_[2], b, t, own) + e) += weight * at(go, gi + e);
            }
            dp[i] = mask ? dot * at(*mask, line * keys + t) / kKeep : dot;
            if (softmax) delta += p[i] * dp[i];
          }
          if (!softmax)
            for (int64_t e = 0; e < v.shape.back(); ++e) delta += at(go, gi + e) * at(in(out_at), gi + e);
          if (sinks) {
            double seen = 0;  // probability of the keys; the sink has the rest
            for (const double share : p) seen += share;
            const double rest = softmax ? 1 - seen : sink(sinks, first_head + h) * std::exp(-at(*lse, line));
            out_[sinks_grad].data.at(static_cast<size_t>(first_head + h)) -= rest * delta;
          }
          entries_backward(b, h, s, scale, delta, entries() ? at(*lse, line) : 0);
          for (int64_t t = 0; t < keys; ++t) {
            const auto i = static_cast<size_t>(t);
            const double ds = p[i] * (dp[i] - delta) * scale * shape_slope(score(q, k, qi, row(k, b, t, g)));
            for (int64_t e = 0; e < q.shape[3]; ++e) {
              at(out_[0], qi + e) += ds * at(k, row(k, b, t, g) + e);
              at(out_[1], row(out_[1], b, t, own) + e) += ds * at(q, qi + e);
            }
          }
        }
  }
  // Compressed keys are their own values.
  void entries_backward(int64_t b, int64_t h, int64_t s, double scale, double delta, double lse) {
    const RealTensor &go = in(0), &q = in(1);
    const std::vector<double> of_entries = entry_scores(q, b, h, s, 1);
    const int64_t qi = row(q, b, s, h), gi = row(go, b, s, h);
    for (int64_t j = 0; j < std::ssize(of_entries); ++j) {
      const RealTensor& c = *entries();
      const int64_t ci = row(c, b, j, 0);
      const double p = of_entries[static_cast<size_t>(j)] * std::exp(-lse);
      double dot = 0;
      for (int64_t e = 0; e < c.shape.back(); ++e) dot += at(go, gi + e) * at(c, ci + e);
      for (int64_t e = 0; e < c.shape.back(); ++e) {
        at(out_[0], qi + e) += p * (dot - delta) * scale * at(c, ci + e);
        at(out_[3], ci + e) += p * (dot - delta) * scale * at(q, qi + e) + p * at(go, gi + e);
      }
    }
  }
  void merge_parts() {  // result, log-sum-exp of this part, log-sum-exps of all parts, optional sinks
    const int64_t parts = in(2).shape.back(), width = in(0).shape.back(), heads = in(0).shape[2];
    const RealTensor* sinks = c_.inputs.size() > 3 ? &in(3) : nullptr;
    for (int64_t r = 0; r < in(1).elements(); ++r) {
      double all = sink(sinks, r % heads);
      for (int64_t p = 0; p < parts; ++p) all += std::exp(at(in(2), r * parts + p));
      for (int64_t e = 0; e < width; ++e)
        at(out_[0], r * width + e) = at(in(0), r * width + e) * std::exp(at(in(1), r)) / all;
    }
  }
};

}  // namespace

std::vector<RealTensor> run_attention_kernel(const KernelCall& call) { return AttentionKernel(call).run(); }

}  // namespace shardscape::test
