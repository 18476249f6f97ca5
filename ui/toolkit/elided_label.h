// One line of text that ends in "…" where there is no room; the tool tip then has all of it.
#pragma once

#include <QWidget>

namespace shardscape::ui {

class ElidedLabel : public QWidget {
  Q_OBJECT
 public:
  explicit ElidedLabel(QWidget* parent, QFont font, QPalette::ColorRole role = QPalette::WindowText);
  void setText(const QString& text);
  const QString& text() const { return text_; }
  void setShort(const QString& text);  // said where the whole has no room
  void setInk(const QColor& ink);      // instead of the palette's; invalid: the palette's again
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  QString text_, short_;
  QColor ink_;
  QPalette::ColorRole role_;
};

}  // namespace shardscape::ui
