#include "support/kernels.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "support/attention_kernels.h"
#include "support/index_kernels.h"
#include "support/kernel_base.h"
#include "support/kernel_numbers.h"
#include "support/routing_kernels.h"

namespace shardscape::test {
namespace {

constexpr double kScale = 4;  // scale of random embeddings

struct Rows {
  int64_t rows, width;
};
Rows rows_of(const RealTensor& t) { return {t.elements() / t.shape.back(), t.shape.back()}; }

class Kernel : private KernelBase {
 public:
  using KernelBase::KernelBase;

  std::vector<RealTensor> run() {
    // A forward kernel may also run within the backward.
    const bool backward = c_.op.grad != GradRole::None;
    switch (c_.op.kind) {
      case OpKind::Einsum:
        out_[0] = einsum(c_.op.spec, c_.inputs, c_.output_shapes[0]);
        // a router saves copies of its operands
        for (size_t i = 1; i < out_.size(); ++i) out_[i].data = in(i - 1).data;
        break;
      case OpKind::Quantize: out_[0] = in(0); break;  // identity
      case OpKind::Add: add(); break;
      case OpKind::BiasAdd:
        if (backward && out_.size() > 1)
          weighed_bias_backward();
        else
          backward ? void(out_[0] = einsum(c_.op.spec, c_.inputs, c_.output_shapes[0])) : bias();
        break;
      case OpKind::SigmoidGate: backward ? gate_backward() : gate(); break;
      case OpKind::Embed: backward ? embed_backward() : embed(); break;
      case OpKind::PositionAdd: backward ? positions_backward() : positions(); break;
      case OpKind::RmsNorm: backward ? rms_backward() : rms(); break;
      case OpKind::LayerNorm: backward ? layer_norm_backward() : layer_norm(); break;
      case OpKind::UnitNorm: backward ? unit_norm_backward() : unit_norm(); break;
      case OpKind::SquareSum: backward ? square_sum_backward() : square_sum(); break;
      case OpKind::RmsScale: backward ? rms_scale_backward() : rms_scale(); break;
      case OpKind::Rope: rope(backward ? -1 : 1); break;
      case OpKind::Attention:
      case OpKind::MergeParts: return run_attention_kernel(c_);
      case OpKind::IndexTopK: return run_index_kernel(c_);
      case OpKind::Compress: return run_compress_kernel(c_);
      case OpKind::SwiGlu: backward ? swiglu_backward() : swiglu(); break;
      case OpKind::GeGlu: backward ? geglu_backward() : geglu(); break;
      case OpKind::SplitHeads:
      case OpKind::Contiguous: out_[0].data = in(0).data; break;
      case OpKind::Concat: backward ? split() : concat(); break;
      case OpKind::SoftCap: backward ? soft_cap_backward() : soft_cap(); break;
      case OpKind::Scale: scale(); break;
      case OpKind::Relu2: backward ? relu2_backward() : relu2(); break;
      case OpKind::ExpertScale: return run_routing(c_);
      case OpKind::Gelu: backward ? gelu_backward() : gelu(); break;
      case OpKind::Dropout:
      case OpKind::LoraDropout: backward ? dropout_backward() : dropout(); break;
      case OpKind::Cast: out_[0].data = in(0).data; break;
      case OpKind::CausalConv:
      case OpKind::SelectiveScan:
      case OpKind::Ssd:
      case OpKind::GroupRmsNorm: return run_mixer_kernel(c_);
      case OpKind::Repeat:
      case OpKind::MeanSquare:
      case OpKind::StreamGate:
      case OpKind::Sinkhorn:
      case OpKind::Mix:
      case OpKind::Softmax:
      case OpKind::Append:
      case OpKind::Accumulate: return run_stream_kernel(c_);
      case OpKind::LinearScan:
      case OpKind::DecayGate:
      case OpKind::Sigmoid:
      case OpKind::Silu: return run_linear_kernel(c_);
      case OpKind::FoldTokens:
      case OpKind::PoolTokens:
      case OpKind::InsertTokens:
      case OpKind::AddTokens:
      case OpKind::AppendToken:
      case OpKind::UnfoldTokens:
      case OpKind::Clip: return run_vision_kernel(c_);
      case OpKind::CacheWrite: cache_write(); break;
      case OpKind::LastToken: last_token(); break;
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
    // The last dimension, or the experts and the last dimension: all tokens of an expert share a row of the
    // bias.
    const bool rows = c_.op.spec.starts_with("nt");
    const int64_t n = in(1).elements(), width = in(1).shape.back(), slots = rows ? in(0).shape[1] : 1;
    for (int64_t i = 0; i < in(0).elements(); ++i)
      at(out_[0], i) = at(in(0), i) + at(in(1), rows ? i / (slots * width) * width + i % width : i % n) *
                                          (c_.inputs.size() > 2 ? at(in(2), i / width) : 1);
  }
  void weighed_bias_backward() {  // g, bias, weights of slots
    const int64_t width = in(1).shape.back(), slots = in(0).shape[1];
    for (int64_t i = 0; i < in(0).elements(); ++i) {
      const int64_t row = i / (slots * width) * width + i % width;
      at(out_[0], row) += at(in(0), i) * at(in(2), i / width);
      at(out_[1], i / width) += at(in(0), i) * at(in(1), row);
    }
  }

  // A gate for every element, for every head, or for every token.
  void gate() {
    const int64_t width = in(0).elements() / in(1).elements();
    for (int64_t i = 0; i < in(0).elements(); ++i)
      at(out_[0], i) = at(in(0), i) * sigmoid(at(in(1), i / width));
  }
  void gate_backward() {  // gradient, operands
    const int64_t width = in(1).elements() / in(2).elements();
    for (int64_t i = 0; i < in(1).elements(); ++i) {
      const double s = sigmoid(at(in(2), i / width));
      at(out_[0], i) = at(in(0), i) * s;
      at(out_[1], i / width) += at(in(0), i) * at(in(1), i) * s * (1 - s);
    }
  }

  void embed() {
    const int64_t first = c_.input_starts[1][0], rows = in(1).shape[0], width = in(1).elements() / rows;
    for (int64_t i = 0; i < in(0).elements(); ++i) {
      const int64_t row = std::llround(at(in(0), i)) - first;
      if (row >= 0 && row < rows)
        for (int64_t d = 0; d < width; ++d) at(out_[0], i * width + d) = at(in(1), row * width + d);
    }
  }
  void embed_backward() {
    const int64_t first = c_.output_starts[0][0], rows = out_[0].shape[0], width = out_[0].elements() / rows;
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
      if (RealTensor* kept = output("rstd")) at(*kept, r) = rstd;  // absent if only the result is recomputed
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
        if (out_.size() > 1) at(out_[1], d) += g * x * rstd;  // none for frozen weights
      }
    }
  }

  void unit_norm() {
    const auto [rows, width] = rows_of(in(0));
    for (int64_t r = 0; r < rows; ++r) {
      const double rstd = inverse_rms(square_sum_of(in(0), r, width), width);
      for (int64_t d = 0; d < width; ++d) at(out_[0], r * width + d) = at(in(0), r * width + d) * rstd;
    }
  }
  void unit_norm_backward() {  // g, x
    const auto [rows, width] = rows_of(in(1));
    for (int64_t r = 0; r < rows; ++r) {
      const double rstd = inverse_rms(square_sum_of(in(1), r, width), width);
      double dot = 0;
      for (int64_t d = 0; d < width; ++d) dot += at(in(0), r * width + d) * at(in(1), r * width + d);
      for (int64_t d = 0; d < width; ++d)
        at(out_[0], r * width + d) = rstd *
                                     (at(in(0), r * width + d) - at(in(1), r * width + d) * dot * rstd *
                                                                     rstd / static_cast<double>(width));
    }
  }
  static double square_sum_of(const RealTensor& x, int64_t row, int64_t width) {
    double sum = 0;
    for (int64_t d = 0; d < width; ++d) sum += at(x, row * width + d) * at(x, row * width + d);
    return sum;
  }
  static double inverse_rms(double sum, int64_t width) {
    return 1 / std::sqrt(sum / static_cast<double>(width) + kEps);
  }
  // A norm in two steps: this rank has a part of each row.
  void square_sum() {
    const int64_t rows = out_[0].elements(), width = in(0).elements() / rows;
    for (int64_t r = 0; r < rows; ++r)
      at(out_[0], r) = square_sum_of(in(0), r, width) / static_cast<double>(c_.copies);
  }
  void square_sum_backward() {  // g, x
    const int64_t width = in(1).elements() / in(0).elements();
    for (int64_t i = 0; i < in(1).elements(); ++i) at(out_[0], i) = 2 * at(in(1), i) * at(in(0), i / width);
  }
  void rms_scale() {  // x, sum of squares, optional weight
    const int64_t width = in(0).elements() / in(1).elements();
    for (int64_t i = 0; i < in(0).elements(); ++i)
      at(out_[0], i) = at(in(0), i) * inverse_rms(at(in(1), i / width), c_.norm_width) *
                       (c_.inputs.size() > 2 ? at(in(2), i % width) : 1);
  }
  void rms_scale_backward() {  // g, x, sum of squares, optional weight
    const bool weighted = out_.size() > 2;
    const int64_t width = in(1).elements() / in(2).elements();
    for (int64_t i = 0; i < in(1).elements(); ++i) {
      const double rstd = inverse_rms(at(in(2), i / width), c_.norm_width);
      const double g = at(in(0), i) * (weighted ? at(in(3), i % width) : 1), x = at(in(1), i);
      at(out_[0], i) = g * rstd;
      at(out_[1], i / width) -= g * x * std::pow(rstd, 3) / (2 * static_cast<double>(c_.norm_width));
      if (weighted) at(out_[2], i % width) += at(in(0), i) * x * rstd;
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
      if (out_.size() > 2) {  // inference saves no statistics
        at(out_[1], r) = mean;
        at(out_[2], r) = rstd;
      }
      for (int64_t d = 0; d < width; ++d)
        at(out_[0], r * width + d) = (at(in(0), r * width + d) - mean) * rstd * at(in(1), d) +
                                     (c_.inputs.size() > 2 ? at(in(2), d) : 0);
    }
  }
  void layer_norm_backward() {  // g, x, weight, optional bias, mean, rstd
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
        if (out_.size() > 1) at(out_[1], d) += g * xhat;  // none for frozen weights
        if (out_.size() > 2) at(out_[2], d) += g;
      }
    }
  }

  void rope(double direction) {
    const RealTensor& x = in(0);
    const int64_t seq = x.shape[1], width = x.shape.back();
    const int64_t heads = x.elements() / (x.shape[0] * seq * width);  // all heads may share one rotated part
    const RopeAttributes& words = *rope_of(c_.op);
    const int64_t rotated = words.part ? c_.rope_width : width;
    if (words.inverse) direction = -direction;
    out_[0].data = x.data;
    for (int64_t r = 0; r < x.elements() / width; ++r) {
      const auto place = static_cast<double>(position(0, r / heads % seq));
      for (int64_t i = 0; i < rotated / 2; ++i) {
        const double angle = direction * place *
                             std::pow(100.0, -2.0 * static_cast<double>(i) / static_cast<double>(rotated));
        const double a = at(x, r * width + 2 * i), b = at(x, r * width + 2 * i + 1);
        at(out_[0], r * width + 2 * i) = a * std::cos(angle) - b * std::sin(angle);
        at(out_[0], r * width + 2 * i + 1) = a * std::sin(angle) + b * std::cos(angle);
      }
    }
  }

  // Rows are the first dimensions. If an operand has fewer rows than the result, each row repeats.
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

  void dropout() {
    const RealTensor& x = in(0);
    const Starts& at0 = c_.input_starts[0];
    const bool heads = x.shape.size() == 4;
    const int64_t seq = x.shape[1], last = x.shape.back(), width = heads ? x.shape[2] * last : last;
    const int64_t first = heads ? at0[2] * last : at0[2];
    for (int64_t i = 0; i < x.elements(); ++i) {
      const bool keep = kept(at0[0] + i / width / seq, position(0, i / width % seq), first + i % width, 0);
      at(out_[1], i) = keep;
      at(out_[0], i) = keep ? at(x, i) / kKeep : 0;
    }
  }
  void dropout_backward() {  // g, mask
    for (int64_t i = 0; i < in(0).elements(); ++i) at(out_[0], i) = at(in(0), i) * at(in(1), i) / kKeep;
  }

  // The words of a SwiGLU: small limits and caps, so that tiny numbers feel them.
  static constexpr double kLimit = 0.6, kAlpha = 1.702, kGateCap = 0.8, kUpCap = 1.1;
  // A number that passes a limit or a smooth cap, and its slope.
  struct Bounded {
    double value, slope;
  };
  static Bounded capped(double x, double cap) {
    const double t = std::tanh(x / cap);
    return {cap * t, 1 - t * t};
  }
  Bounded bounded_gate(double gate) const {
    const SwiGluAttributes& words = *swiglu_of(c_.op);
    if (words.situ) return capped(gate, kGateCap);
    const bool cut = (words.clamp || words.limit) && gate > kLimit;
    return {cut ? kLimit : gate, cut ? 0.0 : 1.0};
  }
  Bounded factor(double up) const {
    const SwiGluAttributes& words = *swiglu_of(c_.op);
    if (words.situ) return capped(up, kUpCap);
    const bool cut = (words.clamp || words.limit) && std::abs(up) > kLimit;
    return {(cut ? std::copysign(kLimit, up) : up) + (words.clamp ? 1 : 0), cut ? 0.0 : 1.0};
  }
  // SiTU bounds the factor of the sigmoid, not its argument.
  Bounded silu(double gate) const {
    const SwiGluAttributes& words = *swiglu_of(c_.op);
    const Bounded x = bounded_gate(gate);
    const double alpha = words.clamp ? kAlpha : 1, of = words.situ ? gate : x.value, s = sigmoid(alpha * of);
    return {x.value * s, x.slope * s + x.value * alpha * s * (1 - s) * (words.situ ? 1 : x.slope)};
  }
  // An activation of `operands` operands, times the weights of slots if there is one operand more.
  void weigh(size_t operands) {
    const int64_t width = out_[0].shape.back();
    for (int64_t i = 0; i < out_[0].elements() && c_.inputs.size() > operands; ++i)
      at(out_[0], i) *= at(in(operands), i / width);
  }
  // g, operands, weights; value(i): the activation without weights.
  template <typename Value>
  void weigh_backward(size_t operands, const Value& value) {
    const int64_t width = in(0).shape.back();
    for (int64_t i = 0; i < in(0).elements() && out_.size() > operands; ++i) {
      at(out_[operands], i / width) += at(in(0), i) * value(i);
      for (size_t k = 0; k < operands; ++k) at(out_[k], i) *= at(in(operands + 1), i / width);
    }
  }
  void swiglu() {
    for (int64_t i = 0; i < in(0).elements(); ++i)
      at(out_[0], i) = silu(at(in(0), i)).value * factor(at(in(1), i)).value;
    fill("silu", [&](int64_t i) { return silu(at(in(0), i)).value; });
    weigh(2);
  }
  void swiglu_backward() {  // g, gate, up
    for (int64_t i = 0; i < in(0).elements(); ++i) {
      const Bounded gate = silu(at(in(1), i)), up = factor(at(in(2), i));
      at(out_[0], i) = at(in(0), i) * gate.slope * up.value;
      at(out_[1], i) = at(in(0), i) * gate.value * up.slope;
    }
    weigh_backward(2, [&](int64_t i) { return silu(at(in(1), i)).value * factor(at(in(2), i)).value; });
  }
  void relu2() {
    for (int64_t i = 0; i < in(0).elements(); ++i) at(out_[0], i) = std::pow(std::max(at(in(0), i), 0.0), 2);
    weigh(1);
  }
  void relu2_backward() {  // g, x
    for (int64_t i = 0; i < in(0).elements(); ++i)
      at(out_[0], i) = 2 * at(in(0), i) * std::max(at(in(1), i), 0.0);
    weigh_backward(1, [&](int64_t i) { return std::pow(std::max(at(in(1), i), 0.0), 2); });
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
    weigh(2);
  }
  void geglu_backward() {  // g, gate, up
    for (int64_t i = 0; i < in(0).elements(); ++i) {
      at(out_[0], i) = at(in(0), i) * at(in(2), i) * gelu_slope(at(in(1), i));
      at(out_[1], i) = at(in(0), i) * gelu(at(in(1), i));
    }
    weigh_backward(2, [&](int64_t i) { return gelu(at(in(1), i)) * at(in(2), i); });
  }
  void soft_cap() {
    for (int64_t i = 0; i < in(0).elements(); ++i) at(out_[0], i) = kCap * std::tanh(at(in(0), i) / kCap);
  }
  void soft_cap_backward() {  // g, result
    for (int64_t i = 0; i < in(0).elements(); ++i)
      at(out_[0], i) = at(in(0), i) * (1 - std::pow(at(in(1), i) / kCap, 2));
  }
  void scale() {  // x or its gradient, optional factor
    const double factor = c_.inputs.size() > 1 ? at(in(1), 0) : kScale;
    for (int64_t i = 0; i < in(0).elements(); ++i) at(out_[0], i) = factor * at(in(0), i);
  }

  // Prefill: caches the last tokens of the prompt, as many as the cache holds. Decode: the past cache and the
  // new token at its end.
  void cache_write() {
    const bool grows = c_.inputs.size() > 1;
    if (grows) out_[0] = in(1);
    const int64_t made = in(0).shape[1], kept = out_[0].shape[1],
                  width = in(0).elements() / (in(0).shape[0] * made);
    // Decode writes the token at its position in the sequence, if this rank holds the position. Prefill
    // writes the last tokens.
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
  void last_token() {
    const int64_t seq = in(0).shape[1], width = in(0).elements() / (in(0).shape[0] * seq);
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
