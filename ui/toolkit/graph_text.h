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
// That of the kernel that makes it: "QKV projection" where its product is one with others.
QString kernel_title(const Segment& segment, OpId op);
// The ops that the same kernel makes, without this one: "K projection, V projection"; empty where it is
// alone.
QString otherOpsOfKernel(const Segment& segment, OpId op);
// What an op produces first, or reads where it produces nothing.
const Tensor* main_tensor(const Segment& segment, const Op& op);

class NodeText {
 public:
  NodeText(const Binding& binding, bool numbers, UnitSystem units)
      : binding_(binding), numbers_(numbers), units_(units) {}

  QString shape(const Tensor& tensor) const;  // "[b, S/tp, D]" or "[1, 4,096, 4,096]"
  QString shape_numbers(const Tensor& tensor) const;
  QString detail(const Segment& segment, const Op& op) const;  // second line of a card
  QString flops(const Expr& flops) const;
  QString bytes(const Expr& bytes) const;
  // On a line from its producer (-1: from outside) to a reader: the placement where it changes, or the shape.
  QString line(const Segment& segment, TensorId tensor, OpId reader) const;

 private:
  bool shows_shape(const Op& op) const;
  const Binding& binding_;
  bool numbers_;
  UnitSystem units_;
};

}  // namespace shardscape::ui
