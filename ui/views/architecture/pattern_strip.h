// The layers of a model from first to last as a strip of cells, one colour per kind of layers. Equal layers
// in a row share a cell, and the strip names each kind below.
#pragma once

#include <QStringList>
#include <QWidget>
#include <vector>

namespace shardscape::ui {

class PatternStrip : public QWidget {
  Q_OBJECT
 public:
  explicit PatternStrip(QWidget* parent);
  // kinds: names; layers: index of the kind of each layer; prefix, suffix: layers outside of the repeated
  // part.
  void setLayers(const QStringList& kinds, std::vector<int> layers, int prefix, int suffix);
  static QColor color(int kind);  // of a kind of layers
  QSize sizeHint() const override { return {300, 34}; }
  QSize minimumSizeHint() const override { return {120, 34}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;

 private:
  QRectF cell(size_t layer) const;
  QStringList kinds_;
  std::vector<int> layers_;
  int prefix_ = 0, suffix_ = 0;
};

}  // namespace shardscape::ui
