// A tornado chart of single changes: the change of tokens per second or of memory per knob, the largest
// first.
#pragma once

#include <memory>
#include <vector>

#include "base/units.h"
#include "explore/sensitivity.h"
#include "ui/plot/canvas.h"

namespace shardscape::ui {

enum class SensitivityMeasure { Time, Memory };

class Tornado : public Canvas {
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
  int shown() const;       // number of rows that fit
  int fullHeight() const;  // pixels that all rows need
  QRectF rowRect(int row) const;
  QString tipAt(const QPointF& point) const override;
  int selected() const { return selected_; }
  void select(int row);
  // The best change of the row: the fastest that fits, or the smallest memory; nullptr: none is better.
  const Neighbour* best(int row) const;
  QString changeText(double change) const;
  void paint(QPainter& painter, const QRectF& rect, const QColor& ground) const override;
  QSize sizeHint() const override { return {640, 320}; }
  QSize minimumSizeHint() const override { return {320, 120}; }

 Q_SIGNALS:
  void rowSelected(int row);
  void makeCurrentRequested(int row);

 protected:
  bool ready() const override { return !rows_.empty(); }
  QRectF focusFrame() const override { return selected_ < 0 ? Canvas::focusFrame() : QRectF(); }
  void click(const QPointF& at, Qt::KeyboardModifiers held) override;
  void doubleClick(const QPointF& at) override;
  bool go(Way way, Qt::KeyboardModifiers held) override;
  bool activate() override;
  bool clear() override;

 private:
  struct Axis {
    double least = 0, most = 0;  // ends of all bars
    double label = 0;            // pixels of the names
    double scale = 1, zero = 0;  // pixels per unit, and where zero is
  };
  Axis axisOf(int count, double width) const;
  void paintHeading(QPainter& painter, const Axis& axis, double width) const;
  void paintRow(QPainter& painter, int i, const Axis& axis, double width, const QColor& ground) const;
  double change(const Sensitivity& of, const Neighbour& neighbour) const;
  Range range(const Sensitivity& of, const Knob& knob) const;
  void fillRows();
  QString nameOf(const Row& row) const;                               // "Microbatch size: 1"
  QString valueText(const Row& row, int neighbour, double by) const;  // "2 +3.1 %, too large"
  double rowHeight() const;
  int rowAt(const QPointF& point) const;  // -1: none
  std::shared_ptr<const Sensitivity> sensitivity_;
  SensitivityMeasure measure_ = SensitivityMeasure::Time;
  UnitSystem units_ = UnitSystem::Binary;
  std::vector<Row> rows_;
  std::vector<OtherDesign> others_;
  int selected_ = -1;
};

}  // namespace shardscape::ui
