// A scatter plot of designs over two columns, with the Pareto front as a line. Points are hovered, selected
// and made current by mouse and keys.
#pragma once

#include <QImage>
#include <memory>
#include <optional>
#include <vector>

#include "ui/plot/axis_scale.h"
#include "ui/plot/canvas.h"
#include "ui/views/explore/point_style.h"

namespace shardscape::ui {

class ScatterCanvas : public Canvas {
  Q_OBJECT
 public:
  explicit ScatterCanvas(QWidget* parent = nullptr);

  struct Columns {
    int x = -1, y = -1, colour = -1, shape = -1;
    friend bool operator==(const Columns&, const Columns&) = default;
  };
  // Null: nothing to show. same_search: further rows of the shown search; the zoom stays.
  void setRows(std::shared_ptr<const ExploreRows> rows, const Columns& columns, bool same_search);
  void setPassing(std::vector<char> passing);  // [row], from the filters; empty: all pass
  void setUnits(UnitSystem units);
  // The places of the present design and the pinned designs, if their values are known.
  struct Marked {
    int member = 0;  // 0 is the present design, see Comparisons::letter
    QPointF values;
  };
  void setMarked(std::vector<Marked> marked);
  const std::vector<Marked>& marked() const { return marked_; }
  QPointF markedPlace(size_t at) const;  // in the widget
  void setSelected(int row);             // emits no signal; -1: none
  int selected() const { return selected_; }
  void select(int row);  // emits rowSelected()
  // All selected designs; selected() is the one that keys move. Emits no signal.
  void setChosen(std::vector<int> rows);
  const std::vector<int>& chosen() const { return chosen_; }
  // While on, a drag draws a rectangle. Otherwise Shift+drag does.
  void setDrawing(bool on) { draws_ = on; }
  // The part of the plot inside a rectangle of the widget, in values of the columns.
  QRectF valuesIn(const QRectF& rect) const;
  std::vector<int> rowsIn(const QRectF& values) const;  // that pass, best first
  void reveal(int row);
  void zoomBy(double factor) override;
  void fit() override;
  bool atHome() const { return at_home_; }
  const std::vector<int>& front() const { return front_; }  // rows
  const Columns& columns() const { return columns_; }
  const AxisScale& xScale() const { return x_; }
  const AxisScale& yScale() const { return y_; }
  QPointF place(int row) const;  // in the widget
  QRectF plot() const { return plotOf(QRectF(rect())); }
  int rowAt(const QPointF& point) const;  // -1: none
  int hovered() const { return hovered_; }
  void setHovered(int row);  // also called by the table; -1: none
  bool passes(int row) const { return passing_.empty() || passing_[static_cast<size_t>(row)]; }
  QString tipAt(const QPointF&) const override { return {}; }  // the chart paints a card instead
  void paint(QPainter& painter, const QRectF& rect, const QColor& ground) const override;
  QSize sizeHint() const override { return {640, 320}; }
  QSize minimumSizeHint() const override { return {320, 160}; }

 Q_SIGNALS:
  void rowSelected(int row);  // -1: nothing
  void rowToggled(int row);   // the person adds a design to the selection, or takes it out
  void areaChosen(const QRectF& values, bool add);
  void makeCurrentRequested(int row);  // the person makes this design the present design
  void hoveredChanged(int row);

 protected:
  bool ready() const override { return rows_ && !xs_.empty(); }
  bool viewMoves() const override { return true; }
  void themeChanged() override { stale(); }
  void paintWindow(QPainter& painter, const QRect& exposed) override;
  QRectF focusFrame() const override { return plot().adjusted(-0.5, -0.5, 0.5, -0.5); }
  bool hover(const QPointF& at, bool has_tip) override;
  void leave() override { setHovered(-1); }
  void click(const QPointF& at, Qt::KeyboardModifiers held) override;
  void doubleClick(const QPointF& at) override;
  void pan(const QPointF& pixels) override;
  bool grabs(const QPointF& at, Qt::KeyboardModifiers held) override;  // Shift draws a rectangle
  bool drag(const QPointF& at) override;
  void drop() override;
  void zoomAt(double factor, const QPointF& at) override;
  bool go(Way way, Qt::KeyboardModifiers held) override;
  bool activate() override;
  bool clear() override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  QRectF plotOf(const QRectF& rect) const;
  QPointF placeIn(const QRectF& plot, int row) const;
  QPointF markedPlaceIn(const QRectF& plot, const Marked& marked) const;
  void layOut(bool keep_view);
  void filtered();
  void stale();  // the image of points must be drawn again
  double radius() const;
  void keepInReach();
  void step(int dx, int dy);
  void describe();
  // Draws the points into an image, and fills a grid for hit tests.
  void drawPoints(const QRectF& plot) const;
  void paintAxes(QPainter& painter, const QRectF& rect, const QRectF& plot) const;
  void paintLegend(QPainter& painter, const QRectF& rect, const QRectF& plot, const QColor& ground) const;
  void paintLimit(QPainter& painter, const QRectF& plot, const QColor& ground) const;
  void paintFront(QPainter& painter, const QRectF& plot, const QColor& ground) const;
  void paintMarks(QPainter& painter, const QRectF& plot, const QColor& ground) const;
  void paintDrawn(QPainter& painter) const;
  void paintCard(QPainter& painter, const QRectF& plot, int row) const;

  std::shared_ptr<const ExploreRows> rows_;
  Columns columns_;
  AxisScale x_, y_;
  PointStyle style_;
  std::vector<double> xs_, ys_;  // places of rows along the axes
  std::vector<char> passing_;
  std::vector<int> front_;
  std::vector<Marked> marked_;
  double capacity_ = 0;  // bytes, if all designs have the same capacity; 0: unknown
  UnitSystem units_ = UnitSystem::Binary;
  int selected_ = -1, hovered_ = -1;
  bool at_home_ = true, draws_ = false;
  bool adds_ = false;  // the designs in the rectangle are added to those that are selected
  QPointF drawn_from_;
  std::vector<int> chosen_;
  QRectF drawn_;                          // the rectangle that the person draws
  mutable QImage image_;                  // the drawn points; empty: must be drawn
  mutable std::vector<int> cell_, next_;  // first row of a grid cell; next row in the same cell; -1: none
  mutable int grid_columns_ = 0, grid_rows_ = 0;
};

}  // namespace shardscape::ui
