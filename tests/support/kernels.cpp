#include "support/kernels.h"

#include <cmath>
#include <stdexcept>

namespace shardscape::test {
namespace {

constexpr double kEps = 1e-5;

struct Rows {
  int64_t rows, width;
};
Rows rows_of(const RealTensor& t) { return {t.elements() / t.shape.back(), t.shape.back()}; }

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

class Kernel {
 public:
  explicit Kernel(const KernelCall& call) : c_(call) {
    for (const auto& shape : call.output_shapes) out_.emplace_back(shape);
  }

  std::vector<RealTensor> run() {
    const bool backward = c_.op.phase == Phase::Backward;
    switch (c_.op.kind) {
      case OpKind::Einsum: out_[0] = einsum(c_.op.spec, c_.inputs, c_.output_shapes[0]); break;
      case OpKind::Add: add(); break;
      case OpKind::BiasAdd: backward ? void(out_[0] = einsum(c_.op.spec, c_.inputs, c_.output_shapes[0])) : bias(); break;
      case OpKind::Embed: backward ? embed_backward() : embed(); break;
      case OpKind::PositionAdd: backward ? positions_backward() : positions(); break;
      case OpKind::RmsNorm: backward ? rms_backward() : rms(); break;
      case OpKind::LayerNorm: backward ? layer_norm_backward() : layer_norm(); break;
      case OpKind::Rope: rope(backward ? -1 : 1); break;
      case OpKind::Attention: backward ? attention_backward() : attention(); break;
      case OpKind::SwiGlu: backward ? swiglu_backward() : swiglu(); break;
      case OpKind::Gelu: backward ? gelu_backward() : gelu(); break;
      case OpKind::ReduceMax: reduce_max(); break;
      case OpKind::SumExp: backward ? sum_exp_backward() : sum_exp(); break;
      case OpKind::Pick: backward ? pick_backward() : pick(); break;
      case OpKind::Nll: backward ? nll_backward() : nll(); break;
      default: throw std::logic_error("no kernel for " + std::string(op_kind_name(c_.op.kind)));
    }
    return std::move(out_);
  }

 private:
  const RealTensor& in(size_t i) const { return *c_.inputs[i]; }
  static double& at(RealTensor& t, int64_t i) { return t.data[static_cast<size_t>(i)]; }
  static double at(const RealTensor& t, int64_t i) { return t.data[static_cast<size_t>(i)]; }

  void add() {
    for (const RealTensor* t : c_.inputs)
      for (size_t i = 0; i < t->data.size(); ++i) out_[0].data[i] += t->data[i];
  }
  void bias() {
    const int64_t n = in(1).elements();
    for (int64_t i = 0; i < in(0).elements(); ++i) at(out_[0], i) = at(in(0), i) + at(in(1), i % n);
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
    const int64_t seq = in(0).shape[1], width = in(0).shape[2], first = c_.input_starts[0][1];
    for (int64_t i = 0; i < in(0).elements(); ++i)
      at(out_[0], i) = at(in(0), i) + at(in(1), (first + i / width % seq) * width + i % width);
  }
  void positions_backward() {
    const int64_t seq = in(0).shape[1], width = in(0).shape[2], first = c_.input_starts[0][1];
    for (int64_t i = 0; i < in(0).elements(); ++i) at(out_[0], (first + i / width % seq) * width + i % width) += at(in(0), i);
  }

  void rms() {
    const auto [rows, width] = rows_of(in(0));
    for (int64_t r = 0; r < rows; ++r) {
      double sum = 0;
      for (int64_t d = 0; d < width; ++d) sum += at(in(0), r * width + d) * at(in(0), r * width + d);
      const double rstd = 1 / std::sqrt(sum / static_cast<double>(width) + kEps);
      at(out_[1], r) = rstd;
      for (int64_t d = 0; d < width; ++d) at(out_[0], r * width + d) = at(in(0), r * width + d) * rstd * at(in(1), d);
    }
  }
  void rms_backward() {  // g, x, weight, rstd
    const auto [rows, width] = rows_of(in(1));
    for (int64_t r = 0; r < rows; ++r) {
      const double rstd = at(in(3), r);
      double dot = 0;
      for (int64_t d = 0; d < width; ++d) dot += at(in(0), r * width + d) * at(in(2), d) * at(in(1), r * width + d);
      for (int64_t d = 0; d < width; ++d) {
        const double g = at(in(0), r * width + d), x = at(in(1), r * width + d);
        at(out_[0], r * width + d) = rstd * (g * at(in(2), d) - x * dot * rstd * rstd / static_cast<double>(width));
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
      at(out_[1], r) = mean;
      at(out_[2], r) = rstd;
      for (int64_t d = 0; d < width; ++d)
        at(out_[0], r * width + d) = (at(in(0), r * width + d) - mean) * rstd * at(in(1), d) + at(in(2), d);
    }
  }
  void layer_norm_backward() {  // g, x, weight, bias, mean, rstd
    const auto [rows, width] = rows_of(in(1));
    const auto n = static_cast<double>(width);
    for (int64_t r = 0; r < rows; ++r) {
      const double mean = at(in(4), r), rstd = at(in(5), r);
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
        at(out_[2], d) += g;
      }
    }
  }

  void rope(double direction) {
    const RealTensor& x = in(0);
    const int64_t seq = x.shape[1], heads = x.shape[2], width = x.shape[3], first = c_.input_starts[0][1];
    for (int64_t r = 0; r < x.elements() / width; ++r) {
      const auto position = static_cast<double>(first + r / heads % seq);
      for (int64_t i = 0; i < width / 2; ++i) {
        const double angle = direction * position * std::pow(100.0, -2.0 * static_cast<double>(i) / static_cast<double>(width));
        const double a = at(x, r * width + 2 * i), b = at(x, r * width + 2 * i + 1);
        at(out_[0], r * width + 2 * i) = a * std::cos(angle) - b * std::sin(angle);
        at(out_[0], r * width + 2 * i + 1) = a * std::sin(angle) + b * std::cos(angle);
      }
    }
  }

  // Index of (batch, position, head, 0) in [b, s, h, e].
  static int64_t row(const RealTensor& t, int64_t b, int64_t s, int64_t h) {
    return ((b * t.shape[1] + s) * t.shape[2] + h) * t.shape[3];
  }
  double score(const RealTensor& q, const RealTensor& k, int64_t qi, int64_t ki) const {
    double dot = 0;
    for (int64_t e = 0; e < q.shape[3]; ++e) dot += at(q, qi + e) * at(k, ki + e);
    return dot / std::sqrt(static_cast<double>(q.shape[3]));
  }
  int64_t kv_head(int64_t head, size_t q, size_t k) const {
    return (c_.input_starts[q][2] + head) / c_.heads_per_kv - c_.input_starts[k][2];
  }
  bool masked(int64_t s, int64_t t, size_t q, size_t k) const {
    return c_.op.causal && c_.input_starts[k][1] + t > c_.input_starts[q][1] + s;
  }

  void attention() {  // q, k, v
    const RealTensor &q = in(0), &k = in(1), &v = in(2);
    for (int64_t b = 0; b < q.shape[0]; ++b)
      for (int64_t h = 0; h < q.shape[2]; ++h)
        for (int64_t s = 0; s < q.shape[1]; ++s) {
          const int64_t g = kv_head(h, 0, 1), qi = row(q, b, s, h);
          double total = 0;
          for (int64_t t = 0; t < k.shape[1]; ++t) {
            if (masked(s, t, 0, 1)) continue;
            const double p = std::exp(score(q, k, qi, row(k, b, t, g)));
            total += p;
            for (int64_t e = 0; e < v.shape[3]; ++e) at(out_[0], qi + e) += p * at(v, row(v, b, t, g) + e);
          }
          for (int64_t e = 0; e < v.shape[3]; ++e) at(out_[0], qi + e) /= total;
          at(out_[1], (b * q.shape[2] + h) * q.shape[1] + s) = std::log(total);
        }
  }
  void attention_backward() {  // g, q, k, v, o, lse
    const RealTensor &go = in(0), &q = in(1), &k = in(2), &v = in(3), &o = in(4), &lse = in(5);
    const double scale = 1 / std::sqrt(static_cast<double>(q.shape[3]));
    for (int64_t b = 0; b < q.shape[0]; ++b)
      for (int64_t h = 0; h < q.shape[2]; ++h)
        for (int64_t s = 0; s < q.shape[1]; ++s) {
          const int64_t g = kv_head(h, 1, 2), qi = row(q, b, s, h);
          double delta = 0;
          for (int64_t e = 0; e < q.shape[3]; ++e) delta += at(go, qi + e) * at(o, qi + e);
          for (int64_t t = 0; t < k.shape[1]; ++t) {
            if (masked(s, t, 1, 2)) continue;
            const int64_t ki = row(k, b, t, g);
            const double p = std::exp(score(q, k, qi, ki) - at(lse, (b * q.shape[2] + h) * q.shape[1] + s));
            double dp = 0;
            for (int64_t e = 0; e < q.shape[3]; ++e) {
              dp += at(go, qi + e) * at(v, ki + e);
              at(out_[2], ki + e) += p * at(go, qi + e);
            }
            const double ds = p * (dp - delta) * scale;
            for (int64_t e = 0; e < q.shape[3]; ++e) {
              at(out_[0], qi + e) += ds * at(k, ki + e);
              at(out_[1], ki + e) += ds * at(q, qi + e);
            }
          }
        }
  }

  void swiglu() {
    for (int64_t i = 0; i < in(0).elements(); ++i) at(out_[0], i) = at(in(0), i) * sigmoid(at(in(0), i)) * at(in(1), i);
  }
  void swiglu_backward() {  // g, gate, up
    for (int64_t i = 0; i < in(0).elements(); ++i) {
      const double x = at(in(1), i), sig = sigmoid(x);
      at(out_[0], i) = at(in(0), i) * at(in(2), i) * sig * (1 + x * (1 - sig));
      at(out_[1], i) = at(in(0), i) * x * sig;
    }
  }
  void gelu() {
    for (int64_t i = 0; i < in(0).elements(); ++i) at(out_[0], i) = at(in(0), i) * 0.5 * std::erfc(-at(in(0), i) / std::sqrt(2.0));
  }
  void gelu_backward() {  // g, x
    for (int64_t i = 0; i < in(0).elements(); ++i) {
      const double x = at(in(1), i), density = std::exp(-x * x / 2) / std::sqrt(2 * M_PI);
      at(out_[0], i) = at(in(0), i) * (0.5 * std::erfc(-x / std::sqrt(2.0)) + x * density);
    }
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
        at(out_[1], r * width + d) = e;
        at(out_[0], r) += e;
      }
  }
  void sum_exp_backward() {  // g, exponentials
    const auto [rows, width] = rows_of(in(1));
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t d = 0; d < width; ++d) at(out_[0], r * width + d) = at(in(0), r) * at(in(1), r * width + d);
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
    for (int64_t i = 0; i < in(0).elements(); ++i) at(out_[0], i) = std::log(at(in(0), i)) + at(in(1), i) - at(in(2), i);
  }
  void nll_backward() {  // g, sum of exponentials
    for (int64_t i = 0; i < in(0).elements(); ++i) {
      at(out_[0], i) = at(in(0), i) / at(in(1), i);
      at(out_[1], i) = -at(in(0), i);
    }
  }

  const KernelCall& c_;
  std::vector<RealTensor> out_;
};

}  // namespace

std::vector<RealTensor> run_kernel(const KernelCall& call) { return Kernel(call).run(); }

}  // namespace shardscape::test
