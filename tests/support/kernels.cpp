#include "support/kernels.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "support/kernel_base.h"
#include "support/routing_kernels.h"

namespace shardscape::test {
namespace {

constexpr double kCap = 1.5;  // small, so that tiny numbers feel it
constexpr double kScale = 4;  // of embeddings

struct Rows {
  int64_t rows, width;
};
Rows rows_of(const RealTensor& t) { return {t.elements() / t.shape.back(), t.shape.back()}; }

class Kernel : private KernelBase {
 public:
  using KernelBase::KernelBase;

  std::vector<RealTensor> run() {
    const bool backward = c_.op.grad !=
                          GradRole::None;  // a kernel may also run a forward op again within the backward
    switch (c_.op.kind) {
      case OpKind::Einsum:
        out_[0] = einsum(c_.op.spec, c_.inputs, c_.output_shapes[0]);
        for (size_t i = 1; i < out_.size(); ++i)
          out_[i].data = in(i - 1).data;  // a router's copies of its operands
        break;
      case OpKind::Quantize: out_[0] = in(0); break;  // as if it changed nothing
      case OpKind::Add: add(); break;
      case OpKind::BiasAdd:
        backward ? void(out_[0] = einsum(c_.op.spec, c_.inputs, c_.output_shapes[0])) : bias();
        break;
      case OpKind::SigmoidGate: backward ? gate_backward() : gate(); break;
      case OpKind::Embed: backward ? embed_backward() : embed(); break;
      case OpKind::PositionAdd: backward ? positions_backward() : positions(); break;
      case OpKind::RmsNorm: backward ? rms_backward() : rms(); break;
      case OpKind::LayerNorm: backward ? layer_norm_backward() : layer_norm(); break;
      case OpKind::Rope: rope(backward ? -1 : 1); break;
      case OpKind::Attention: backward ? attention_backward() : attention(); break;
      case OpKind::SwiGlu: backward ? swiglu_backward() : swiglu(); break;
      case OpKind::GeGlu: backward ? geglu_backward() : geglu(); break;
      case OpKind::Contiguous: out_[0].data = in(0).data; break;
      case OpKind::Concat: backward ? split() : concat(); break;
      case OpKind::SoftCap: backward ? soft_cap_backward() : soft_cap(); break;
      case OpKind::Scale: scale(); break;
      case OpKind::Gelu: backward ? gelu_backward() : gelu(); break;
      case OpKind::Dropout: backward ? dropout_backward() : dropout(); break;
      case OpKind::Cast: out_[0].data = in(0).data; break;
      case OpKind::CausalConv:
      case OpKind::SelectiveScan:
      case OpKind::Ssd:
      case OpKind::GroupRmsNorm: return run_mixer_kernel(c_);
      case OpKind::CacheWrite: cache_write(); break;
      case OpKind::LastToken: last_token(); break;
      case OpKind::MergeParts: merge_parts(); break;
      case OpKind::ReduceMax: reduce_max(); break;
      case OpKind::SumExp: backward ? sum_exp_backward() : sum_exp(); break;
      case OpKind::Pick: backward ? pick_backward() : pick(); break;
      case OpKind::Nll: backward ? nll_backward() : nll(); break;
      default:
        if (is_routing(c_.op.kind)) return run_routing(c_);
        throw std::logic_error("no kernel for " + std::string(op_kind_name(c_.op.kind)));
    }
    return std::move(out_);
  }

 private:
  void add() {
    for (const RealTensor* t : c_.inputs)
      for (size_t i = 0; i < t->data.size(); ++i) out_[0].data[i] += t->data[i];
  }
  void bias() {
    // The last dimensions, or experts and the last one: one row of the bias for all tokens of an expert.
    const bool rows = c_.op.spec.starts_with("nt");
    const int64_t n = in(1).elements(), width = in(1).shape.back(), slots = rows ? in(0).shape[1] : 1;
    for (int64_t i = 0; i < in(0).elements(); ++i)
      at(out_[0], i) = at(in(0), i) + at(in(1), rows ? i / (slots * width) * width + i % width : i % n);
  }

  void gate() {
    const int64_t width = in(0).shape.back();
    for (int64_t i = 0; i < in(0).elements(); ++i)
      at(out_[0], i) = at(in(0), i) * sigmoid(at(in(1), i / width));
  }
  void gate_backward() {  // gradient, operands
    const int64_t width = in(1).shape.back();
    for (int64_t i = 0; i < in(1).elements(); ++i) {
      const double s = sigmoid(at(in(2), i / width));
      at(out_[0], i) = at(in(0), i) * s;
      at(out_[1], i / width) += at(in(0), i) * at(in(1), i) * s * (1 - s);
    }
  }

  void embed() {
    const int64_t first = c_.input_starts[1][0], rows = in(1).shape[0], width = in(1).shape[1];
    for (int64_t i = 0; i < in(0).elements(); ++i) {
      const int64_t row = std::llround(at(in(0), i)) - first;
      if (row >= 0 && row < rows)
        for (int64_t d = 0; d < width; ++d) at(out_[0], i * width + d) = at(in(1), row * width + d);
    }
  }
  void embed_backward() {
    const int64_t first = c_.output_starts[0][0], rows = out_[0].shape[0], width = out_[0].shape[1];
    for (int64_t i = 0; i < in(1).elements(); ++i) {
      const int64_t row = std::llround(at(in(1), i)) - first;
      if (row >= 0 && row < rows)
        for (int64_t d = 0; d < width; ++d) at(out_[0], row * width + d) += at(in(0), i * width + d);
    }
  }

  void positions() {
    const int64_t seq = in(0).shape[1], width = in(0).shape[2];
    for (int64_t i = 0; i < in(0).elements(); ++i)
      at(out_[0], i) = at(in(0), i) + at(in(1), position(0, i / width % seq) * width + i % width);
  }
  void positions_backward() {
    const int64_t seq = in(0).shape[1], width = in(0).shape[2];
    for (int64_t i = 0; i < in(0).elements(); ++i)
      at(out_[0], position(0, i / width % seq) * width + i % width) += at(in(0), i);
  }

  void rms() {
    const auto [rows, width] = rows_of(in(0));
    for (int64_t r = 0; r < rows; ++r) {
      double sum = 0;
      for (int64_t d = 0; d < width; ++d) sum += at(in(0), r * width + d) * at(in(0), r * width + d);
      const double rstd = 1 / std::sqrt(sum / static_cast<double>(width) + kEps);
      if (RealTensor* kept = output("rstd")) at(*kept, r) = rstd;  // not where the result alone is made again
      for (int64_t d = 0; d < width; ++d)
        at(out_[0], r * width + d) = at(in(0), r * width + d) * rstd * at(in(1), d);
    }
    const RealTensor* rstd = output("rstd");
    fill("x", [&](int64_t i) { return at(in(0), i); });
    fill("normed", [&, w = width](int64_t i) { return at(in(0), i) * at(*rstd, i / w); });
    fill("weight", [&](int64_t i) { return at(in(1), i); });
  }
  void rms_backward() {  // g, x (or a copy among the statistics), weight, statistics
    const bool copied = place("x") != 0;
    const RealTensor &values = copied ? *input("x") : in(1), &weight = in(copied ? 1 : 2),
                     &rstds = *input("rstd");
    const auto [rows, width] = rows_of(values);
    for (int64_t r = 0; r < rows; ++r) {
      const double rstd = at(rstds, r);
      double dot = 0;
      for (int64_t d = 0; d < width; ++d)
        dot += at(in(0), r * width + d) * at(weight, d) * at(values, r * width + d);
      for (int64_t d = 0; d < width; ++d) {
        const double g = at(in(0), r * width + d), x = at(values, r * width + d);
        at(out_[0], r * width + d) = rstd *
                                     (g * at(weight, d) - x * dot * rstd * rstd / static_cast<double>(width));
        at(out_[1], d) += g * x * rstd;
      }
    }
  }

  void layer_norm() {
    const auto [rows, width] = rows_of(in(0));
    const auto n = static_cast<double>(width);
    for (int64_t r = 0; r < rows; ++r) {
      double mean = 0, variance = 0;
      for (int64_t d = 0; d < width; ++d) mean += at(in(0), r * width + d) / n;
      for (int64_t d = 0; d < width; ++d) variance += std::pow(at(in(0), r * width + d) - mean, 2) / n;
      const double rstd = 1 / std::sqrt(variance + kEps);
      if (out_.size() > 2) {  // inference keeps nothing
        at(out_[1], r) = mean;
        at(out_[2], r) = rstd;
      }
      for (int64_t d = 0; d < width; ++d)
        at(out_[0], r * width + d) = (at(in(0), r * width + d) - mean) * rstd * at(in(1), d) +
                                     (c_.inputs.size() > 2 ? at(in(2), d) : 0);
    }
  }
  void layer_norm_backward() {  // g, x, weight, bias if there is one, mean, rstd
    const size_t statistics = c_.inputs.size() - 2;
    const auto [rows, width] = rows_of(in(1));
    const auto n = static_cast<double>(width);
    for (int64_t r = 0; r < rows; ++r) {
      const double mean = at(in(statistics), r), rstd = at(in(statistics + 1), r);
      double sum = 0, dot = 0;
      for (int64_t d = 0; d < width; ++d) {
        const double gw = at(in(0), r * width + d) * at(in(2), d);
        sum += gw;
        dot += gw * (at(in(1), r * width + d) - mean) * rstd;
      }
      for (int64_t d = 0; d < width; ++d) {
        const double g = at(in(0), r * width + d), xhat = (at(in(1), r * width + d) - mean) * rstd;
        at(out_[0], r * width + d) = rstd * (g * at(in(2), d) - sum / n - xhat * dot / n);
        at(out_[1], d) += g * xhat;
        if (out_.size() > 2) at(out_[2], d) += g;
      }
    }
  }

  void rope(double direction) {
    const RealTensor& x = in(0);
    const int64_t seq = x.shape[1], width = x.shape.back();
    const int64_t heads = x.elements() / (x.shape[0] * seq * width);  // one rotated part may serve all heads
    for (int64_t r = 0; r < x.elements() / width; ++r) {
      const auto place = static_cast<double>(position(0, r / heads % seq));
      for (int64_t i = 0; i < width / 2; ++i) {
        const double angle = direction * place *
                             std::pow(100.0, -2.0 * static_cast<double>(i) / static_cast<double>(width));
        const double a = at(x, r * width + 2 * i), b = at(x, r * width + 2 * i + 1);
        at(out_[0], r * width + 2 * i) = a * std::cos(angle) - b * std::sin(angle);
        at(out_[0], r * width + 2 * i + 1) = a * std::sin(angle) + b * std::cos(angle);
      }
    }
  }

  // Rows of the first dimensions; an operand with fewer of them gives each of its rows to as many of the
  // result.
  void concat() {
    const auto [rows, width] = rows_of(out_[0]);
    int64_t begin = 0;
    for (const RealTensor* t : c_.inputs) {
      const auto [own, part] = rows_of(*t);
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t e = 0; e < part; ++e)
          at(out_[0], r * width + begin + e) = at(*t, r / (rows / own) * part + e);
      begin += part;
    }
  }
  void split() {  // g
    const auto [rows, width] = rows_of(in(0));
    int64_t begin = 0;
    for (RealTensor& t : out_) {
      const auto [own, part] = rows_of(t);
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t e = 0; e < part; ++e)
          at(t, r / (rows / own) * part + e) += at(in(0), r * width + begin + e);
      begin += part;
    }
  }

  // The same elements fall however the tensor is spread: the choice depends on the place in the whole.
  static constexpr double kKeep = 0.75;
  static bool kept(int64_t a, int64_t b, int64_t c, int64_t d) {
    const uint64_t hash = static_cast<uint64_t>(((a * 131 + b) * 137 + c) * 139 + d + 1) *
                          0x9E3779B97F4A7C15ULL;
    return (hash >> 40) % 4 != 0;
  }
  void dropout() {
    const RealTensor& x = in(0);
    const Starts& at0 = c_.input_starts[0];
    const int64_t seq = x.shape[1], width = x.shape[2];
    for (int64_t i = 0; i < x.elements(); ++i) {
      const bool keep = kept(at0[0] + i / width / seq, position(0, i / width % seq), at0[2] + i % width, 0);
      at(out_[1], i) = keep;
      at(out_[0], i) = keep ? at(x, i) / kKeep : 0;
    }
  }
  void dropout_backward() {  // g, mask
    for (int64_t i = 0; i < in(0).elements(); ++i) at(out_[0], i) = at(in(0), i) * at(in(1), i) / kKeep;
  }

  // Index of (batch, position, head, 0) in [b, s, h, e].
  static int64_t row(const RealTensor& t, int64_t b, int64_t s, int64_t h) {
    if (t.shape.size() == 3) return (b * t.shape[1] + s) * t.shape[2];  // latents serve all heads
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
  bool masked(int64_t s, int64_t t, size_t q, size_t k) const {
    if (c_.op.ring != Ring::None) return ring_masked(s, t, q, k);
    const int64_t back = position(q, s) - position(k, t);
    return (c_.op.causal && back < 0) || (c_.op.window && back >= c_.window);
  }
  // The step in which a rank of a ring works on a key.
  int64_t ring_step(int64_t t, size_t k) const {
    const int64_t ranks = c_.ring_ranks, keys = static_cast<int64_t>(c_.input_positions[k].size());
    const bool zigzag = c_.op.ring == Ring::Zigzag;
    const int64_t block = position(k, t) / (keys / (zigzag ? 2 * ranks : ranks)),
                  owner = zigzag ? std::min(block, 2 * ranks - 1 - block) : block;
    return (c_.ring_position - owner + ranks) % ranks;
  }
  // A ring masks in its own block only. Of the others it works on what its kernels are given: all, nothing,
  // or under zigzag half of the keys (of ranks before) or half of the queries (of ranks behind).
  bool ring_masked(int64_t s, int64_t t, size_t q, size_t k) const {
    if (!c_.op.causal) return false;
    const int64_t step = ring_step(t, k);
    if (step == 0) return position(k, t) > position(q, s);
    if (c_.op.ring == Ring::Plain) return step > c_.ring_position;
    const auto half = [&](int64_t place, size_t of_all) { return place < static_cast<int64_t>(of_all) / 2; };
    if (step <= c_.ring_position) return !half(position(k, t), c_.input_positions[k].size());
    return half(s, c_.input_positions[q].size());
  }
  // What becomes of a raw score before the softmax: capped, less a penalty on distance that halves from head
  // to head.
  double shaped(double raw, int64_t h, int64_t s, int64_t t, size_t q, size_t k) const {
    if (c_.op.soft_cap) raw = kCap * std::tanh(raw / kCap);
    if (!c_.op.alibi) return raw;
    const auto back = static_cast<double>(position(q, s) - position(k, t));
    return raw - back * std::pow(2.0, -1.0 - static_cast<double>(c_.input_starts[q][2] + h));
  }
  double shape_slope(double raw) const { return c_.op.soft_cap ? 1 - std::pow(std::tanh(raw / kCap), 2) : 1; }

  // The logit that takes part in the softmax of head h, and in nothing else; sinks may be held of more heads
  // than are here.
  static double sink(const RealTensor* sinks, int64_t at_head) {
    return sinks ? std::exp(at(*sinks, at_head)) : 0;
  }

  // KV heads spelled out for every query head.
  void expand(const std::string& statistic, const RealTensor& kv) {
    RealTensor* out = output(statistic);
    if (!out) return;
    const int64_t heads = out->shape[2], width = out->shape[3];
    for (int64_t r = 0; r < out->elements() / width; ++r)
      for (int64_t e = 0; e < width; ++e)
        at(*out, r * width + e) = at(
            kv, row(kv, r / heads / kv.shape[1], r / heads % kv.shape[1], kv_head(r % heads, 0, 1)) + e);
  }

  // Block after block as they come round; what is there so far and the new block's result are joined by their
  // log-sum-exp.
  void ring_attention() {  // q, k, v
    const RealTensor &q = in(0), &k = in(1), &v = in(2);
    for (int64_t b = 0; b < q.shape[0]; ++b)
      for (int64_t h = 0; h < q.shape[2]; ++h)
        for (int64_t s = 0; s < q.shape[1]; ++s) {
          const int64_t g = kv_head(h, 0, 1), qi = row(q, b, s, h);
          double lse = -INFINITY;
          for (int64_t step = 0; step < c_.ring_ranks; ++step) {
            double total = 0;
            std::vector<double> sum(static_cast<size_t>(v.shape[3]), 0.0);
            for (int64_t t = 0; t < k.shape[1]; ++t) {
              if (ring_step(t, 1) != step || masked(s, t, 0, 1)) continue;
              const double weight = std::exp(shaped(score(q, k, qi, row(k, b, t, g)), h, s, t, 0, 1));
              total += weight;
              for (int64_t e = 0; e < v.shape[3]; ++e)
                sum[static_cast<size_t>(e)] += weight * at(v, row(v, b, t, g) + e);
            }
            if (total == 0) continue;
            const double joined = std::log(std::exp(lse) + total);
            for (int64_t e = 0; e < v.shape[3]; ++e)
              at(out_[0], qi + e) = at(out_[0], qi + e) * std::exp(lse - joined) +
                                    sum[static_cast<size_t>(e)] * std::exp(-joined);
            lse = joined;
          }
          if (RealTensor* kept = output("lse")) at(*kept, (b * q.shape[2] + h) * q.shape[1] + s) = lse;
        }
  }
  void attention() {  // q, k, v, perhaps sinks
    if (c_.op.ring != Ring::None) return ring_attention();
    const RealTensor &q = in(0), &k = in(1), &v = in(2);
    expand("keys", k);
    expand("values", v);
    if (RealTensor* copy = output("contiguous_values")) copy->data = v.data;
    RealTensor *lse = output("lse"), *softmax = output("softmax"), *mask = output("mask"),
               *dropped = output("dropped");
    RealTensor *probabilities = output("probabilities"), *capped = output("capped");
    const RealTensor* sinks = c_.inputs.size() > 3 ? &in(3) : nullptr;
    const int64_t keys = k.shape[1], first_head = sinks ? c_.input_starts[0][2] - c_.input_starts[3][0] : 0;
    std::vector<double> p(static_cast<size_t>(keys));
    for (int64_t b = 0; b < q.shape[0]; ++b)
      for (int64_t h = 0; h < q.shape[2]; ++h)
        for (int64_t s = 0; s < q.shape[1]; ++s) {
          const int64_t g = kv_head(h, 0, 1), qi = row(q, b, s, h),
                        line = (b * q.shape[2] + h) * q.shape[1] + s;
          double total = sink(sinks, first_head + h);
          for (int64_t t = 0; t < keys; ++t) {
            p[static_cast<size_t>(t)] = masked(s, t, 0, 1) ? 0
                                                           : std::exp(shaped(score(q, k, qi, row(k, b, t, g)),
                                                                             h, s, t, 0, 1));
            total += p[static_cast<size_t>(t)];
          }
          if (lse) at(*lse, line) = std::log(total);
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
  // g, q, k, v (the last two expanded, or V copied, where the profile keeps them so), sinks if there are
  // some, then either the output and log-sum-exp (scores are made again) or the kept scores.
  void attention_backward() {
    const bool expanded = place("keys") != 0;
    const bool copied = place("contiguous_values") != 0;
    const size_t k_at = expanded ? place("keys") : 2,
                 sinks_at = expanded ? 2
                            : copied ? 3
                                     : 4,
                 out_at = sinks_at + (out_.size() > 3 ? 1 : 0);
    const RealTensor* sinks = out_.size() > 3 ? &in(sinks_at) : nullptr;
    const int64_t first_head = sinks ? c_.input_starts[1][2] - c_.input_starts[sinks_at][0] : 0;
    const RealTensor &go = in(0), &q = in(1), &k = in(k_at),
                     &v = expanded ? *input("values")
                          : copied ? *input("contiguous_values")
                                   : in(3);
    const RealTensor *lse = input("lse"), *softmax = input("softmax"), *mask = input("mask"),
                     *dropped = input("dropped");
    const double scale = 1 / std::sqrt(static_cast<double>(q.shape[3]));
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
                   : masked(s, t, 1, k_at)
                       ? 0
                       : std::exp(shaped(score(q, k, qi, ki), h, s, t, 1, k_at) - at(*lse, line));
            const double weight = dropped ? at(*dropped, line * keys + t) : p[i];
            double dot = 0;
            for (int64_t e = 0; e < v.shape[3]; ++e) {
              dot += at(go, gi + e) * at(v, row(v, b, t, g) + e);
              at(out_[2], row(out_[2], b, t, own) + e) += weight * at(go, gi + e);
            }
            dp[i] = mask ? dot * at(*mask, line * keys + t) / kKeep : dot;
            if (softmax) delta += p[i] * dp[i];
          }
          if (!softmax)
            for (int64_t e = 0; e < v.shape[3]; ++e) delta += at(go, gi + e) * at(in(out_at), gi + e);
          if (sinks) {
            double seen = 0;  // by the keys; the sink has the rest
            for (const double share : p) seen += share;
            const double rest = softmax ? 1 - seen : sink(sinks, first_head + h) * std::exp(-at(*lse, line));
            out_[3].data.at(static_cast<size_t>(first_head + h)) -= rest * delta;
          }
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

  static constexpr double kLimit = 7, kAlpha = 1.702;  // of gpt-oss
  double silu(double gate) const {
    const double x = c_.op.clamp ? std::min(gate, kLimit) : gate;
    return x * sigmoid(c_.op.clamp ? kAlpha * x : x);
  }
  double factor(double up) const { return c_.op.clamp ? std::clamp(up, -kLimit, kLimit) + 1 : up; }
  void swiglu() {
    for (int64_t i = 0; i < in(0).elements(); ++i) at(out_[0], i) = silu(at(in(0), i)) * factor(at(in(1), i));
    fill("silu", [&](int64_t i) { return silu(at(in(0), i)); });
  }
  void swiglu_backward() {  // g, gate, up
    for (int64_t i = 0; i < in(0).elements(); ++i) {
      const double gate = at(in(1), i), up = at(in(2), i), x = c_.op.clamp ? std::min(gate, kLimit) : gate,
                   ax = c_.op.clamp ? kAlpha * x : x;
      const bool gate_cut = c_.op.clamp && gate > kLimit, up_cut = c_.op.clamp && std::abs(up) > kLimit;
      at(out_[0], i) = gate_cut ? 0 : at(in(0), i) * factor(up) * sigmoid(ax) * (1 + ax * (1 - sigmoid(ax)));
      at(out_[1], i) = up_cut ? 0 : at(in(0), i) * silu(gate);
    }
  }
  static double gelu(double x) { return x * 0.5 * std::erfc(-x / std::sqrt(2.0)); }
  static double gelu_slope(double x) {
    return 0.5 * std::erfc(-x / std::sqrt(2.0)) + x * std::exp(-x * x / 2) / std::sqrt(2 * M_PI);
  }
  void gelu() {
    for (int64_t i = 0; i < in(0).elements(); ++i) at(out_[0], i) = gelu(at(in(0), i));
  }
  void gelu_backward() {  // g, x
    for (int64_t i = 0; i < in(0).elements(); ++i) at(out_[0], i) = at(in(0), i) * gelu_slope(at(in(1), i));
  }
  void geglu() {
    for (int64_t i = 0; i < in(0).elements(); ++i) at(out_[0], i) = gelu(at(in(0), i)) * at(in(1), i);
    fill("gelu", [&](int64_t i) { return gelu(at(in(0), i)); });
  }
  void geglu_backward() {  // g, gate, up
    for (int64_t i = 0; i < in(0).elements(); ++i) {
      at(out_[0], i) = at(in(0), i) * at(in(2), i) * gelu_slope(at(in(1), i));
      at(out_[1], i) = at(in(0), i) * gelu(at(in(1), i));
    }
  }
  void soft_cap() {
    for (int64_t i = 0; i < in(0).elements(); ++i) at(out_[0], i) = kCap * std::tanh(at(in(0), i) / kCap);
  }
  void soft_cap_backward() {  // g, result
    for (int64_t i = 0; i < in(0).elements(); ++i)
      at(out_[0], i) = at(in(0), i) * (1 - std::pow(at(in(1), i) / kCap, 2));
  }
  void scale() {
    for (int64_t i = 0; i < in(0).elements(); ++i) at(out_[0], i) = kScale * at(in(0), i);
  }

  // Of a prompt its last tokens, as many as are kept; otherwise what was kept, and the new one at its end.
  void cache_write() {
    const bool grows = c_.inputs.size() > 1;
    if (grows) out_[0] = in(1);
    const int64_t made = in(0).shape[1], kept = out_[0].shape[1],
                  width = in(0).elements() / (in(0).shape[0] * made);
    // A decoded token goes where its place in the sequence is, if this rank has it; of a prompt the last ones
    // are kept.
    const auto goes = [&](int64_t s, int64_t j) {
      return grows ? position(0, s) == position(1, j) : made - s == kept - j;
    };
    for (int64_t b = 0; b < in(0).shape[0]; ++b)
      for (int64_t j = 0; j < kept; ++j)
        for (int64_t s = 0; s < made; ++s) {
          if (!goes(s, j)) continue;
          for (int64_t i = 0; i < width; ++i)
            at(out_[0], (b * kept + j) * width + i) = at(in(0), (b * made + s) * width + i);
        }
  }
  void merge_parts() {  // result, logarithm of the own sum, those of all parts, perhaps sinks
    const int64_t parts = in(2).shape.back(), width = in(0).shape.back(), heads = in(0).shape[2];
    const RealTensor* sinks = c_.inputs.size() > 3 ? &in(3) : nullptr;
    for (int64_t r = 0; r < in(1).elements(); ++r) {
      double all = sink(sinks, r % heads);
      for (int64_t p = 0; p < parts; ++p) all += std::exp(at(in(2), r * parts + p));
      for (int64_t e = 0; e < width; ++e)
        at(out_[0], r * width + e) = at(in(0), r * width + e) * std::exp(at(in(1), r)) / all;
    }
  }
  void last_token() {
    const int64_t seq = in(0).shape[1], width = in(0).shape[2];
    for (int64_t b = 0; b < in(0).shape[0]; ++b)
      for (int64_t s = 0; s < seq; ++s)
        for (int64_t i = 0; i < width && position(0, s) + 1 == c_.tokens_of_sequence; ++i)
          at(out_[0], b * width + i) = at(in(0), (b * seq + s) * width + i);
  }

  void reduce_max() {
    const auto [rows, width] = rows_of(in(0));
    for (int64_t r = 0; r < rows; ++r) {
      at(out_[0], r) = at(in(0), r * width);
      for (int64_t d = 1; d < width; ++d) at(out_[0], r) = std::max(at(out_[0], r), at(in(0), r * width + d));
    }
  }
  void sum_exp() {  // logits, maximum
    const auto [rows, width] = rows_of(in(0));
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t d = 0; d < width; ++d) {
        const double e = std::exp(at(in(0), r * width + d) - at(in(1), r));
        if (out_.size() > 1) at(out_[1], r * width + d) = e;
        at(out_[0], r) += e;
      }
  }
  void sum_exp_backward() {  // g, exponentials; or g, logits, maximum
    const auto [rows, width] = rows_of(in(1));
    const bool again = c_.inputs.size() > 2;
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t d = 0; d < width; ++d) {
        const double kept = at(in(1), r * width + d);
        at(out_[0], r * width + d) = at(in(0), r) * (again ? std::exp(kept - at(in(2), r)) : kept);
      }
  }
  void pick() {  // logits, targets
    const auto [rows, width] = rows_of(in(0));
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t column = std::llround(at(in(1), r)) - c_.input_starts[0][2];
      if (column >= 0 && column < width) at(out_[0], r) = at(in(0), r * width + column);
    }
  }
  void pick_backward() {  // g, targets
    const auto [rows, width] = rows_of(out_[0]);
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t column = std::llround(at(in(1), r)) - c_.output_starts[0][2];
      if (column >= 0 && column < width) at(out_[0], r * width + column) = at(in(0), r);
    }
  }
  void nll() {  // sum of exponentials, maximum, target logit
    for (int64_t i = 0; i < in(0).elements(); ++i)
      at(out_[0], i) = std::log(at(in(0), i)) + at(in(1), i) - at(in(2), i);
  }
  void nll_backward() {  // g, sum of exponentials
    for (int64_t i = 0; i < in(0).elements(); ++i) {
      at(out_[0], i) = at(in(0), i) / at(in(1), i);
      at(out_[1], i) = -at(in(0), i);
    }
  }
};

}  // namespace

std::vector<RealTensor> run_kernel(const KernelCall& call) { return Kernel(call).run(); }

}  // namespace shardscape::test
