// Filters: one small histogram per dimension and main figure. Mouse or keys brush values; a design passes if
// it is inside all brushes. Each histogram counts the designs that pass all other strips, which shows the
// effect of another brush.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ui/plot/canvas.h"
#include "ui/views/explore/explore_rows.h"

namespace shardscape::ui {

class FilterStrips : public Canvas {
  Q_OBJECT
 public:
  explicit FilterStrips(QWidget* parent = nullptr);
  // Brushes stay on dimensions that have the same values in the new rows.
  void setRows(std::shared_ptr<const ExploreRows> rows);
  void setUnits(UnitSystem units);
  void setFlat(bool flat);  // reduces the height of the strips, for low pages
  bool filtering() const;
  std::vector<char> passing() const;  // [row]; empty: all pass
  int passed() const { return passed_; }
  int strips() const { return static_cast<int>(strips_.size()); }
  int strip(const QString& column) const;  // -1: there is none
  int bins(int strip) const { return static_cast<int>(strips_[static_cast<size_t>(strip)].open.size()); }
  // Designs that pass all other strips.
  int open(int strip, int bin) const {
    return strips_[static_cast<size_t>(strip)].open[static_cast<size_t>(bin)];
  }
  bool allowed(int strip, int bin) const;
  QRectF barRect(int strip, int bin) const;
  struct Label {
    QRectF place;
    QString text;
  };
  std::vector<Label> labels(int strip) const;  // values below the bars, from left to right
  QString tipAt(const QPointF& point) const override;
  void brush(int strip, int first, int last);  // these bins only
  void openAll();
  int heightFor(int width) const;
  QSize sizeHint() const override;

 Q_SIGNALS:
  void changed();

 protected:
  bool ready() const override { return !strips_.empty(); }
  void paintWindow(QPainter& painter, const QRect& exposed) override;  // pictures contain no filters
  QRectF focusFrame() const override { return {}; }                    // the current bin shows the focus
  void click(const QPointF& at, Qt::KeyboardModifiers held) override;
  void doubleClick(const QPointF& at) override;
  bool drag(const QPointF& to) override;
  bool go(Way way, Qt::KeyboardModifiers held) override;
  bool activate() override;
  bool clear() override;
  bool otherKey(const QKeyEvent& event) override;

 private:
  struct Strip {
    int column = 0;
    bool logarithmic = false;
    uint64_t mask = ~uint64_t{0};  // bins that pass; all bits: no brush
    std::vector<uint8_t> bin;      // per row
    std::vector<int> open;         // per bin: rows that pass all other strips
  };
  struct Hit {
    int strip = -1, bin = -1;
  };
  QRectF area(int strip) const;  // with its heading
  Hit hit(const QPointF& point) const;
  QString binText(const Strip& strip, int first, int last) const;
  void toggle(int strip, int bin);
  void open(Strip& strip);  // clears the brush of a strip
  void step(int by);        // to the next bin, or into the next strip
  void recount();
  void notifyChanged();
  void describe();
  void paintLabels(QPainter& painter, int strip) const;
  std::shared_ptr<const ExploreRows> rows_;
  std::vector<Strip> strips_;
  std::vector<uint8_t> failed_;  // per row: strips that it does not pass
  UnitSystem units_ = UnitSystem::Binary;
  int passed_ = 0, at_strip_ = 0, at_bin_ = 0, anchor_ = 0;
  double bars_;  // height of the tallest bar
  Hit pressed_;
};

}  // namespace shardscape::ui
