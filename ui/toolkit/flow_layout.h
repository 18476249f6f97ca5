// A layout that puts widgets in lines, as words in a text.
#pragma once

#include <QLayout>

namespace shardscape::ui {

class FlowLayout : public QLayout {
 public:
  FlowLayout(int gap, QWidget* parent);
  ~FlowLayout() override;
  void addItem(QLayoutItem* item) override { items_ << item; }
  int count() const override { return static_cast<int>(items_.size()); }
  QLayoutItem* itemAt(int index) const override { return items_.value(index); }
  QLayoutItem* takeAt(int index) override;
  Qt::Orientations expandingDirections() const override { return {}; }
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override;
  QSize minimumSize() const override;
  QSize sizeHint() const override { return minimumSize(); }
  void setGeometry(const QRect& rect) override;

 private:
  int place(const QRect& rect, bool move) const;  // returns the height
  QList<QLayoutItem*> items_;
  int gap_;
};

}  // namespace shardscape::ui
