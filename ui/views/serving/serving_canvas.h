// What pictures of a sweep over batches and contexts have in common: its points, which of them is hovered and
// selected, where the present design is, and what is pinned for comparison.
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
  // The present design itself, which may be cut into other microbatches than the point of its batch and
  // context.
  struct Present {
    int64_t batch = 0, context = 0;
    InferenceFigures figures;
    friend bool operator==(const Present& a, const Present& b) {
      return a.batch == b.batch && a.context == b.context && a.figures.seconds == b.figures.seconds &&
             a.figures.tokens_per_gpu == b.figures.tokens_per_gpu;
    }
  };
  // The same sweep of a design that is pinned for comparison with the present one, and its own figures where
  // it is in the same phase.
  struct OtherDesign {
    int member = 1;  // as Comparisons::letter counts
    std::shared_ptr<const ServingSweep> sweep;
    std::optional<Present> itself;
  };

  // Null: there is nothing to show. What is selected stays where the new sweep has a point of the same batch
  // and context.
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
  int find(int64_t batch, int64_t context) const;  // -1: there is no such point
  void setSelected(int at);                        // without telling; -1: none
  int selected() const { return selected_; }
  void select(int at);  // and tells
  int hovered() const { return hovered_; }
  QString tip(int at) const;                         // all that is known of a point
  QString summary(int at) const;                     // in one line
  virtual QPointF place(int at) const = 0;           // in the widget
  virtual int pointAt(const QPointF& at) const = 0;  // -1: none
  QString tipAt(const QPointF& at) const override;
  QSize sizeHint() const override { return {640, 300}; }
  QSize minimumSizeHint() const override { return {320, 150}; }

 Q_SIGNALS:
  void pointSelected(int at);
  void taken(int at);  // shall become the present design

 protected:
  ServingCanvas(const QString& object_name, const QString& accessible_name, QWidget* parent)
      : Canvas(object_name, accessible_name, parent) {}
  Mode mode() const { return mode_; }
  bool decodes() const { return mode_ == Mode::Decode; }
  UnitSystem units() const { return units_; }
  const ServingSweep* sweep() const { return sweep_.get(); }
  int contexts() const { return sweep_ ? static_cast<int>(sweep_->largest.size()) : 0; }
  int contextOf(int at) const;  // its place among the contexts
  virtual std::vector<int> inOrder(
      int context) const;    // points of a context as the arrow keys go through them
  virtual void changed() {}  // the sweep, the mode or the compared designs: before it is painted again
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
