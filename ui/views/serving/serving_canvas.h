// The base of chart and map of a sweep over batches and contexts: points, hover, selection, the present
// design and the pinned designs.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/units.h"
#include "serving/inference.h"
#include "ui/plot/canvas.h"

namespace shardscape::ui {

class ServingCanvas : public Canvas {
  Q_OBJECT
 public:
  // The present design. It may have other microbatches than the sweep's point of its batch and context.
  struct Present {
    int64_t batch = 0, context = 0;
    InferenceFigures figures;
    friend bool operator==(const Present& a, const Present& b) {
      return a.batch == b.batch && a.context == b.context && a.figures.seconds == b.figures.seconds &&
             a.figures.tokens_per_gpu == b.figures.tokens_per_gpu;
    }
  };
  // The sweep of a pinned design, and the design's own figures if its mode is the shown phase.
  struct OtherDesign {
    int member = 1;  // 1 is the first pinned design, see Comparisons::letter
    std::shared_ptr<const ServingSweep> sweep;
    std::optional<Present> itself;
  };

  // Null: nothing to show. The selection stays if the new sweep has a point of the same batch and context.
  void setSweep(std::shared_ptr<const ServingSweep> sweep, Mode mode, UnitSystem units);
  void setPresent(const std::optional<Present>& present);
  void setComparedDesigns(std::vector<OtherDesign> others);
  const std::optional<Present>& present() const { return present_; }
  const std::vector<OtherDesign>& others() const { return others_; }
  int points() const { return sweep_ ? static_cast<int>(sweep_->points.size()) : 0; }
  const ServedPoint& point(int at) const { return sweep_->points[static_cast<size_t>(at)]; }
  const SweptPhase& phase(int at) const {
    return mode_ == Mode::Decode ? point(at).decode : point(at).prefill;
  }
  ServiceLimits limits() const { return sweep_ ? sweep_->limits : ServiceLimits(); }
  const Design& served() const { return sweep_->design; }
  int find(int64_t batch, int64_t context) const;  // -1: no such point
  void setSelected(int at);                        // emits no signal; -1: none
  int selected() const { return selected_; }
  void select(int at);  // emits pointSelected()
  int hovered() const { return hovered_; }
  QString tip(int at) const;                         // all figures of a point
  QString summary(int at) const;                     // one line of text
  virtual QPointF place(int at) const = 0;           // in the widget
  virtual int pointAt(const QPointF& at) const = 0;  // -1: none
  QString tipAt(const QPointF& at) const override;
  QSize sizeHint() const override { return {640, 300}; }
  QSize minimumSizeHint() const override { return {320, 150}; }

 Q_SIGNALS:
  void pointSelected(int at);
  void makeCurrentRequested(int at);  // the person makes this point the present design

 protected:
  ServingCanvas(const QString& object_name, const QString& accessible_name, QWidget* parent)
      : Canvas(object_name, accessible_name, parent) {}
  Mode mode() const { return mode_; }
  bool decodes() const { return mode_ == Mode::Decode; }
  UnitSystem units() const { return units_; }
  const ServingSweep* sweep() const { return sweep_.get(); }
  int contexts() const { return sweep_ ? static_cast<int>(sweep_->largest.size()) : 0; }
  int contextOf(int at) const;  // the index of the point's context
  // The points of a context in the order of the arrow keys.
  virtual std::vector<int> inOrder(int context) const;
  // Called before painting after the sweep, the mode or the compared designs changed.
  virtual void changed() {}
  bool ready() const override { return points() > 0; }
  QRectF focusFrame() const override { return selected_ < 0 ? Canvas::focusFrame() : QRectF(); }
  bool hover(const QPointF& at, bool has_tip) override;
  void leave() override { setHovered(-1); }
  void click(const QPointF& at, Qt::KeyboardModifiers held) override;
  void doubleClick(const QPointF& at) override;
  bool go(Way way, Qt::KeyboardModifiers held) override;
  bool activate() override;
  bool clear() override;

 private:
  void step(int by);
  void stepContext(int by);
  void setHovered(int at);
  std::shared_ptr<const ServingSweep> sweep_;
  Mode mode_ = Mode::Decode;
  UnitSystem units_ = UnitSystem::Binary;
  std::optional<Present> present_;
  std::vector<OtherDesign> others_;
  int selected_ = -1, hovered_ = -1;
};

}  // namespace shardscape::ui
