// Colours of graph nodes by their share of time or bytes: ops and blocks as a share of their layer, layers of
// their stage, stages of all stages. No widgets.
#pragma once

#include <QColor>
#include <QPainter>
#include <QRectF>
#include <memory>
#include <optional>
#include <vector>

#include "timing/op_seconds.h"
#include "ui/selection/graph_tree.h"
#include "ui/views/graph/sheet.h"

namespace shardscape::ui {

enum class HeatOf { Kind, Time, Bytes };

class GraphHeat {
 public:
  // passes: the shown directions, which shares refer to. ops: of the tree's report; null: no times.
  GraphHeat(std::shared_ptr<const GraphTree> tree, const OpSeconds* ops, HeatOf of, Passes passes);
  HeatOf of() const { return of_; }
  // 0 .. 1. id: the full id of the piece. nullopt: a frame, whose content is coloured.
  std::optional<double> share(const Piece& piece, const NodeId& id) const;
  // Seconds or bytes of one microbatch: of all ops below the node, or of the kernel that computes an op.
  double value(const NodeId& id) const;

 private:
  double sum(int segment, const std::vector<OpId>& ops) const;
  std::shared_ptr<const GraphTree> tree_;
  HeatOf of_;
  Passes passes_;
  std::vector<std::vector<double>> ops_;  // [segment][op]
  std::vector<double> segments_;          // sums over the shown passes
  std::vector<double> stages_;
};

// The colour of a share. Lightness is linear in the square root of the share, in OKLab (Ottosson 2020), so
// equal steps look equal, also without colour vision. Small shares are close to the ground.
QColor heat_color(double share);
QColor heat_ink(const QColor& fill);  // readable text on the fill
// The ramp with its ticks, in the lower left corner of the rectangle.
void paint_heat_legend(QPainter& painter, const QRectF& rect, HeatOf of);

}  // namespace shardscape::ui
