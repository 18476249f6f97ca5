// Figures of several designs as groups of bars, in columns. Each column has one kind of figure and one scale.
// Designs stand in the order of letters. Painted: rows have names, letters and values, which QCustomPlot's
// bars lack.
#pragma once

#include <vector>

#include "base/units.h"
#include "explore/comparison.h"
#include "ui/plot/canvas.h"

namespace shardscape::ui {

// "9.84 s", "61.3 GiB"; "-" if a design has no such value.
QString figure_text(FigureKind kind, double value, UnitSystem units);

// "9.84 s (B − A: -12.2 %)": of a pinned design, with the change to the present design.
QString compared_text(const ComparedFigure& figure, int member, UnitSystem units);

QString group_text(FigureGroup group);

class GroupedBars : public Canvas {
  Q_OBJECT
 public:
  explicit GroupedBars(QWidget* parent = nullptr);
  void setFigures(std::vector<ComparedFigure> figures, UnitSystem units);
  struct Row {
    int group = 0, figure = 0;  // index in groups(); index in the figures of setFigures()
    QRectF area;                // with its label, in the widget
    std::vector<QRectF> bars;   // one per member (Comparisons::letter)
  };
  std::vector<Row> rows() const;
  const std::vector<FigureGroup>& groups() const { return groups_; }
  QString tipAt(const QPointF& point) const override;
  void setMarked(std::vector<int> figures);  // indices of figures that belong to the selection of any view
  const std::vector<int>& marked() const { return marked_; }
  int fullHeight() const;
  void paint(QPainter& painter, const QRectF& rect, const QColor& ground) const override;
  QSize sizeHint() const override { return {640, fullHeight()}; }
  QSize minimumSizeHint() const override { return {320, fullHeight()}; }

 Q_SIGNALS:
  void figureSelected(int figure);
  void cleared();

 protected:
  bool ready() const override { return !groups_.empty(); }
  QRectF focusFrame() const override { return focused_row_ < 0 ? Canvas::focusFrame() : QRectF(); }
  void paintWindow(QPainter& painter, const QRect& exposed) override;
  void click(const QPointF& at, Qt::KeyboardModifiers held) override;
  bool go(Way way, Qt::KeyboardModifiers held) override;
  bool activate() override;
  bool clear() override;

 private:
  void goTo(int row);  // clamps to the nearest row
  std::vector<Row> rowsIn(const QRectF& rect) const;
  double columnWidth(const QRectF& rect) const;
  int designs() const;
  double rowHeight() const;
  std::vector<ComparedFigure> figures_;
  std::vector<FigureGroup> groups_;
  std::vector<int> marked_;
  int focused_row_ = -1;  // the row with the keyboard focus: an index in rows()
  UnitSystem units_ = UnitSystem::Binary;
};

}  // namespace shardscape::ui
