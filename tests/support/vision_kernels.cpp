// Kernels of vision towers.
#include <algorithm>
#include <cmath>

#include "support/kernel_base.h"

namespace shardscape::test {
namespace {

class VisionKernel : private KernelBase {
 public:
  explicit VisionKernel(const KernelCall& call) : KernelBase(call) {}

  std::vector<RealTensor> run() {
    const bool backward = c_.op.grad != GradRole::None;
    if (c_.op.kind == OpKind::FoldTokens)
      out_[0].data = in(0).data;
    else if (c_.op.kind == OpKind::PoolTokens)
      pool(backward);
    else if (c_.op.kind == OpKind::AppendToken)
      backward ? append_backward() : append();
    else if (c_.op.kind == OpKind::UnfoldTokens)
      unfold(backward);
    else if (c_.op.kind == OpKind::Clip)
      clip(backward);
    else
      backward ? insert_backward() : insert();
    return std::move(out_);
  }

 private:
  // Means of neighbouring patches: `patches` / tokens of them each.
  void pool(bool backward) {
    const RealTensor &patches = backward ? out_[0] : in(0), &tokens = backward ? in(0) : out_[0];
    const int64_t width = patches.shape[2], count = patches.shape[1] / tokens.shape[1];
    for (int64_t i = 0; i < patches.elements(); ++i) {
      const int64_t token = i / (width * count) * width + i % width;
      if (backward)
        at(out_[0], i) = at(in(0), token) / static_cast<double>(count);
      else
        at(out_[0], token) += at(in(0), i) / static_cast<double>(count);
    }
  }
  void append() {  // patches, token
    const int64_t rows = in(0).shape[1], width = in(0).shape[2];
    for (int64_t i = 0; i < out_[0].elements(); ++i) {
      const int64_t row = i / width % (rows + 1), image = i / (width * (rows + 1));
      at(out_[0], i) = row < rows ? at(in(0), (image * rows + row) * width + i % width)
                                  : at(in(1), i % width);
    }
  }
  void append_backward() {  // gradient
    const int64_t rows = in(0).shape[1] - 1, width = in(0).shape[2];
    for (int64_t i = 0; i < in(0).elements(); ++i) {
      const int64_t row = i / width % (rows + 1), image = i / (width * (rows + 1));
      if (row < rows)
        at(out_[0], (image * rows + row) * width + i % width) = at(in(0), i);
      else
        at(out_[1], i % width) += at(in(0), i);
    }
  }
  // Patches stand in rows of a square. A convolution of 3 x 3 with stride 2 reads zeros outside.
  void unfold(bool backward) {
    const RealTensor &patches = backward ? out_[0] : in(0), &taps = backward ? in(0) : out_[0];
    const int64_t count = patches.shape[1], width = patches.shape[2];
    const auto side = static_cast<int64_t>(std::llround(std::sqrt(static_cast<double>(count))));
    for (int64_t i = 0; i < taps.elements(); ++i) {
      const int64_t tap = i % 9, number = i / 9 % width, token = i / (9 * width) % taps.shape[1];
      const int64_t row = token / (side / 2) * 2 + tap / 3 - 1, column = token % (side / 2) * 2 + tap % 3 - 1;
      if (row < 0 || column < 0 || row >= side || column >= side) continue;
      const int64_t image = i / (9 * width * taps.shape[1]);
      const int64_t patch = ((image * count) + row * side + column) * width + number;
      if (backward)
        at(out_[0], patch) += at(in(0), i);
      else
        at(out_[0], i) = at(in(0), patch);
    }
  }
  // Buffers of tests are positive: the lower bound is the first number, negated.
  void clip(bool backward) {
    const RealTensor &x = in(backward ? 1 : 0), &bounds = in(backward ? 2 : 1);
    for (int64_t i = 0; i < x.elements(); ++i) {
      const double low = -at(bounds, 0), high = at(bounds, 1), value = at(x, i);
      if (backward)
        at(out_[0], i) = value >= low && value <= high ? at(in(0), i) : 0;
      else
        at(out_[0], i) = std::min(std::max(value, low), high);
    }
  }
  // The images of a sequence stand at its start, one behind the other. Calls each(index in the stream, index
  // in the tokens of images) for every number; the second is -1 in text.
  template <class Each>
  void visit(const RealTensor& stream, const Each& each) const {
    const int64_t tokens = stream.shape[1], width = stream.shape[2];
    for (int64_t b = 0; b < stream.shape[0]; ++b)
      for (int64_t s = 0; s < tokens; ++s)
        for (int64_t d = 0; d < width; ++d) {
          const int64_t at_position = position(0, s);
          each((b * tokens + s) * width + d,
               at_position < c_.image_tokens ? (b * c_.image_tokens + at_position) * width + d : -1);
        }
  }

  bool adds() const { return c_.op.kind == OpKind::AddTokens; }
  void insert() {  // stream, image tokens
    visit(in(0), [&](int64_t i, int64_t image) {
      at(out_[0], i) = (image < 0 || adds() ? at(in(0), i) : 0) + (image < 0 ? 0 : at(in(1), image));
    });
  }
  void insert_backward() {  // gradient
    visit(in(0), [&](int64_t i, int64_t image) {
      at(out_[0], i) = image < 0 || adds() ? at(in(0), i) : 0;
      if (image >= 0 && out_.size() > 1) at(out_[1], image) = at(in(0), i);
    });
  }
};

}  // namespace

std::vector<RealTensor> run_vision_kernel(const KernelCall& call) { return VisionKernel(call).run(); }

}  // namespace shardscape::test
