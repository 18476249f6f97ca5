// The words on cards and lines of the graph: labels, shapes, placements and sizes, as symbols or as numbers.
#pragma once

#include <QString>

#include "base/units.h"
#include "graph/graph.h"
#include "symbolic/binding.h"

namespace shardscape::ui {

QString qtext(const std::string& text);
// "all-gather tp"
QString redistribution_title(const Op& op);
// "RMS norm", "all-gather tp"
QString op_title(const Op& op);
// The title of the kernel that runs the op: "QKV projection" for a Q projection that is fused with K and V.
QString kernel_title(const Segment& segment, OpId op);
// The other ops of the same kernel: "K projection, V projection". Empty if the kernel runs one op.
QString otherOpsOfKernel(const Segment& segment, OpId op);
// The first output of the op, or its first input if the op has no output.
const Tensor* main_tensor(const Segment& segment, const Op& op);

class NodeText {
 public:
  NodeText(const Binding& binding, bool numbers, UnitSystem units)
      : binding_(binding), numbers_(numbers), units_(units) {}

  QString shape(const Tensor& tensor) const;  // "[b, S/tp, D]" or "[1, 4,096, 4,096]"
  QString shape_numbers(const Tensor& tensor) const;
  QString detail(const Segment& segment, const Op& op) const;  // second line of a card
  // "window 4,096" for an attention with a sliding window; empty for any other op.
  QString window(const Segment& segment, const Op& op) const;
  QString flops(const Expr& flops) const;
  QString bytes(const Expr& bytes) const;
  // The label on the line from the producer of a tensor to a reader (-1: outside the segment): the placement
  // if the reader changes the placement, else the shape.
  QString line(const Segment& segment, TensorId tensor, OpId reader) const;

 private:
  bool shows_shape(const Op& op) const;
  const Binding& binding_;
  bool numbers_;
  UnitSystem units_;
};

}  // namespace shardscape::ui
