// One line of text that ends in "…" if the label is too narrow. The tool tip then shows the whole text.
#pragma once

#include <QWidget>

namespace shardscape::ui {

class ElidedLabel : public QWidget {
  Q_OBJECT
 public:
  explicit ElidedLabel(QWidget* parent, QFont font, QPalette::ColorRole role = QPalette::WindowText);
  void setText(const QString& text);
  const QString& text() const { return text_; }
  void setShort(const QString& text);  // shown if the whole text has no room
  // Draws a dotted underline if the glossary has the term. The tip is its sentence, unless the owner has one.
  void setTerm(const QString& term, bool has_tip = true);
  bool isTerm() const { return is_term_; }
  void setInk(const QColor& ink);  // an invalid colour restores the palette's
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  QString text_, short_, tip_;
  bool is_term_ = false;
  QColor ink_;
  QPalette::ColorRole role_;
};

}  // namespace shardscape::ui
