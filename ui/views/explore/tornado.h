// A tornado chart of single changes: the change of tokens per second or of memory per knob, the largest
// first.
#pragma once

#include <memory>
#include <vector>

#include "base/units.h"
#include "explore/sensitivity.h"
#include "ui/plot/bar_rows.h"

namespace shardscape::ui {

enum class SensitivityMeasure { Time, Memory };

class Tornado : public BarRows {
  Q_OBJECT
 public:
  explicit Tornado(QWidget* parent = nullptr);
  void setSensitivity(std::shared_ptr<const Sensitivity> sensitivity, SensitivityMeasure measure,
                      UnitSystem units);
  // The same knobs of pinned designs, as thin bars below.
  struct OtherDesign {
    int member = 1;  // 1 is the first pinned design, see Comparisons::letter
    std::shared_ptr<const Sensitivity> sensitivity;
  };
  void setComparedDesigns(std::vector<OtherDesign> others);
  struct Range {
    double low = 0, high = 0;       // change: shares of tokens per second, or bytes
    int low_at = -1, high_at = -1;  // the changes with these effects; -1: none in this direction
  };
  struct Row : Range {
    int knob = 0;               // index in the sensitivity's knobs
    std::vector<Range> others;  // one per compared design
  };
  const std::vector<Row>& rows() const { return rows_; }
  int count() const override { return static_cast<int>(rows_.size()); }
  int fullHeight() const;  // pixels that all rows need
  // The best change of the row: the fastest that fits, or the smallest memory; nullptr: none is better.
  const Neighbour* best(int row) const;
  QString changeText(double change) const;
  void paint(QPainter& painter, const QRectF& rect, const QColor& ground) const override;
  QSize sizeHint() const override { return {640, 320}; }
  QSize minimumSizeHint() const override { return {320, 120}; }

 protected:
  double rowHeight(double room) const override;
  QString rowTip(int row) const override;
  bool acts(int row) const override { return best(row) != nullptr; }  // applies the best change of the row

 private:
  struct Axis {
    double least = 0, most = 0;  // ends of all bars
    double label = 0;            // pixels of the names
    double scale = 1, zero = 0;  // pixels per unit, and where zero is
  };
  Axis axisOf(int count, double width) const;
  void paintHeading(QPainter& painter, const Axis& axis, double width) const;
  void paintRow(QPainter& painter, int i, const QRectF& whole, const Axis& axis, const QColor& ground) const;
  double change(const Sensitivity& of, const Neighbour& neighbour) const;
  Range range(const Sensitivity& of, const Knob& knob) const;
  void fillRows();
  QString nameOf(const Row& row) const;                               // "Microbatch size: 1"
  QString valueText(const Row& row, int neighbour, double by) const;  // "2 +3.1 %, too large"
  std::shared_ptr<const Sensitivity> sensitivity_;
  SensitivityMeasure measure_ = SensitivityMeasure::Time;
  UnitSystem units_ = UnitSystem::Binary;
  std::vector<Row> rows_;
  std::vector<OtherDesign> others_;
};

}  // namespace shardscape::ui
