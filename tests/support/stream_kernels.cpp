// Kernels of residual streams of several vectors per token: hyper-connections (arXiv 2512.24880) and
// attention residuals (arXiv 2603.15031).
#include <algorithm>

#include "graph/op_spec.h"
#include "support/kernel_base.h"

namespace shardscape::test {
namespace {

constexpr double kFloor = 1e-6;  // added to weights and to sums of a Sinkhorn iteration, as in DeepSeek-V4
constexpr int kIterations = 20;

using Matrix = std::vector<double>;  // n x n, one row after the other

class StreamKernel : private KernelBase {
 public:
  using KernelBase::KernelBase;

  std::vector<RealTensor> run() {
    const bool backward = c_.op.grad != GradRole::None;
    switch (c_.op.kind) {
      case OpKind::Repeat: backward ? repeat_backward() : repeat(); break;
      case OpKind::MeanSquare: backward ? mean_square_backward() : mean_square(); break;
      case OpKind::Mix: backward ? mix_backward() : mix(); break;
      case OpKind::Softmax: backward ? softmax_backward() : softmax(); break;
      case OpKind::Append: backward ? append_backward() : append(); break;
      case OpKind::Accumulate: backward ? last_vector() : accumulate(); break;
      default: backward ? weights_backward() : weights();
    }
    return std::move(out_);
  }

 private:
  // [b, s, d] -> [b, s, n, d]
  void repeat() {
    const int64_t width = in(0).shape.back(), copies = out_[0].shape[2];
    for (int64_t i = 0; i < out_[0].elements(); ++i)
      at(out_[0], i) = at(in(0), i / (copies * width) * width + i % width);
  }
  void repeat_backward() {
    const int64_t width = out_[0].shape.back(), copies = in(0).shape[2];
    for (int64_t i = 0; i < in(0).elements(); ++i)
      at(out_[0], i / (copies * width) * width + i % width) += at(in(0), i);
  }

  void mean_square() {
    const int64_t width = in(0).elements() / out_[0].elements();
    for (int64_t i = 0; i < in(0).elements(); ++i)
      at(out_[0], i / width) += at(in(0), i) * at(in(0), i) / static_cast<double>(width);
  }
  void mean_square_backward() {  // g, x
    const int64_t width = in(1).elements() / in(0).elements();
    for (int64_t i = 0; i < in(1).elements(); ++i)
      at(out_[0], i) = at(in(0), i / width) * 2 * at(in(1), i) / static_cast<double>(width);
  }

  void mix() { out_[0] = einsum(c_.op.spec, c_.inputs, c_.output_shapes[0]); }
  void mix_backward() {  // g, x, weights; stored weights have no gradient
    const OpSpec spec = *parse_op_spec(c_.op.spec);
    for (size_t i = 0; i < out_.size(); ++i)
      out_[i] = einsum(OpSpec{{spec.in[0], spec.in[2 - i]}, spec.in[1 + i]}.text(),
                       {c_.inputs[0], c_.inputs[2 - i]}, c_.output_shapes[i]);
  }

  void softmax() {
    const int64_t width = in(0).shape.back();
    for (int64_t row = 0; row < in(0).elements(); row += width) {
      double sum = 0;
      for (int64_t i = row; i < row + width; ++i) sum += std::exp(at(in(0), i));
      for (int64_t i = row; i < row + width; ++i) at(out_[0], i) = std::exp(at(in(0), i)) / sum;
    }
  }
  void softmax_backward() {  // g, result
    const int64_t width = in(0).shape.back();
    for (int64_t row = 0; row < in(0).elements(); row += width) {
      double dot = 0;
      for (int64_t i = row; i < row + width; ++i) dot += at(in(0), i) * at(in(1), i);
      for (int64_t i = row; i < row + width; ++i) at(out_[0], i) = at(in(1), i) * (at(in(0), i) - dot);
    }
  }

  // Lists of vectors [b, s, r, d] and one vector [b, s, d] per token.
  void append() {
    const int64_t width = in(1).shape.back(), old = in(0).shape[2] * width;
    for (int64_t i = 0; i < out_[0].elements(); ++i) {
      const int64_t token = i / (old + width), at_token = i % (old + width);
      at(out_[0], i) = at_token < old ? at(in(0), token * old + at_token)
                                      : at(in(1), token * width + at_token - old);
    }
  }
  void append_backward() {  // g
    const int64_t width = out_[1].shape.back(), old = out_[0].shape[2] * width;
    for (int64_t i = 0; i < in(0).elements(); ++i) {
      const int64_t token = i / (old + width), at_token = i % (old + width);
      (at_token < old ? at(out_[0], token * old + at_token)
                      : at(out_[1], token * width + at_token - old)) = at(in(0), i);
    }
  }
  void accumulate() {
    const int64_t width = in(1).shape.back(), list = in(0).shape[2] * width;
    for (int64_t i = 0; i < in(0).elements(); ++i)
      at(out_[0], i) = at(in(0), i) + (i % list < list - width ? 0 : at(in(1), i / list * width + i % width));
  }
  void last_vector() {  // g
    const int64_t width = out_[0].shape.back(), list = in(0).shape[2] * width;
    for (int64_t i = 0; i < out_[0].elements(); ++i)
      at(out_[0], i) = at(in(0), i / width * list + list - width + i % width);
  }

  // Projections [pre, post, mix] of a token, of which an op uses one part: StreamGate n numbers, Sinkhorn
  // n x n. The head projects to the first part alone.
  struct Part {
    int64_t width, begin, size;
    Part(const Op& op, const RealTensor& projected, const RealTensor& base)
        : width(projected.shape.back()), size(base.elements()) {
      const bool last = op.kind == OpKind::Sinkhorn;
      begin = last ? width - size : stream_gate_of(op)->post ? size : 0;
    }
  };

  static double root(double square) { return 1 / std::sqrt(square + kEps); }

  void weights() {  // projections, mean square, base, scale
    const Part part(c_.op, in(0), in(2));
    for (int64_t t = 0; t < in(1).elements(); ++t) {
      const Matrix raw = logits(part, in(0), in(1), in(2), in(3), t);
      const Matrix made = c_.op.kind == OpKind::Sinkhorn ? doubly_stochastic(raw).back() : gates(raw);
      std::copy(made.begin(), made.end(), out_[0].data.begin() + t * part.size);
    }
  }
  void weights_backward() {  // g, projections, mean square, base, scale
    const RealTensor &projected = in(1), &square = in(2), &base = in(3), &scale = in(4);
    const Part part(c_.op, projected, base);
    for (int64_t t = 0; t < square.elements(); ++t) {
      const Matrix raw = logits(part, projected, square, base, scale, t);
      Matrix g(in(0).data.begin() + t * part.size, in(0).data.begin() + (t + 1) * part.size);
      g = c_.op.kind == OpKind::Sinkhorn ? sinkhorn_backward(raw, g) : gates_backward(raw, g);
      const double r = root(at(square, t));
      for (int64_t i = 0; i < part.size; ++i) {
        const int64_t from = t * part.width + part.begin + i;
        const double own = g[static_cast<size_t>(i)], x = at(projected, from);
        at(out_[0], from) = own * r * at(scale, 0);
        at(out_[1], t) -= own * x * at(scale, 0) * r * r * r / 2;
        at(out_[2], i) += own;
        at(out_[3], 0) += own * x * r;
      }
    }
  }
  static Matrix logits(const Part& part, const RealTensor& projected, const RealTensor& square,
                       const RealTensor& base, const RealTensor& scale, int64_t token) {
    Matrix out;
    for (int64_t i = 0; i < part.size; ++i)
      out.push_back(at(projected, token * part.width + part.begin + i) * root(at(square, token)) *
                        at(scale, 0) +
                    at(base, i));
    return out;
  }

  bool post() const { return stream_gate_of(c_.op)->post; }
  Matrix gates(Matrix raw) const {
    for (double& x : raw) x = post() ? 2 * sigmoid(x) : sigmoid(x) + kFloor;
    return raw;
  }
  Matrix gates_backward(const Matrix& raw, Matrix g) const {
    for (size_t i = 0; i < g.size(); ++i) g[i] *= (post() ? 2 : 1) * sigmoid(raw[i]) * (1 - sigmoid(raw[i]));
    return g;
  }

  static size_t side(const Matrix& m) { return static_cast<size_t>(std::lround(std::sqrt(m.size()))); }
  // Index of element k of row or column `line`.
  static size_t index(bool rows, size_t line, size_t k, size_t n) {
    return rows ? line * n + k : k * n + line;
  }

  // Softmax of rows, then columns and rows are divided by their sums in turns: the matrix after each step.
  // Step i > 0 divides columns if i is odd.
  static std::vector<Matrix> doubly_stochastic(const Matrix& raw) {
    const size_t n = side(raw);
    Matrix m = raw;
    for (size_t line = 0; line < n; ++line) {
      double sum = 0;
      for (size_t k = 0; k < n; ++k) sum += std::exp(raw[line * n + k]);
      for (size_t k = 0; k < n; ++k) m[line * n + k] = std::exp(raw[line * n + k]) / sum + kFloor;
    }
    std::vector<Matrix> out{m};
    for (int step = 1; step < 2 * kIterations; ++step) {
      const bool rows = step % 2 == 0;
      for (size_t line = 0; line < n; ++line) {
        double sum = kFloor;
        for (size_t k = 0; k < n; ++k) sum += m[index(rows, line, k, n)];
        for (size_t k = 0; k < n; ++k) m[index(rows, line, k, n)] /= sum;
      }
      out.push_back(m);
    }
    return out;
  }
  static Matrix sinkhorn_backward(const Matrix& raw, Matrix g) {
    const size_t n = side(raw);
    const std::vector<Matrix> steps = doubly_stochastic(raw);
    for (size_t step = steps.size() - 1; step > 0; --step) {
      const bool rows = step % 2 == 0;
      for (size_t line = 0; line < n; ++line) {
        double sum = kFloor, dot = 0;
        for (size_t k = 0; k < n; ++k) {
          const size_t i = index(rows, line, k, n);
          sum += steps[step - 1][i];
          dot += g[i] * steps[step][i];
        }
        for (size_t k = 0; k < n; ++k) {
          double& x = g[index(rows, line, k, n)];
          x = (x - dot) / sum;
        }
      }
    }
    for (size_t line = 0; line < n; ++line) {
      double dot = 0;
      for (size_t k = 0; k < n; ++k) dot += g[line * n + k] * (steps[0][line * n + k] - kFloor);
      for (size_t k = 0; k < n; ++k)
        g[line * n + k] = (g[line * n + k] - dot) * (steps[0][line * n + k] - kFloor);
    }
    return g;
  }
};

}  // namespace

std::vector<RealTensor> run_stream_kernel(const KernelCall& call) { return StreamKernel(call).run(); }

}  // namespace shardscape::test
