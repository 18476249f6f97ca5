// A label whose text can be selected with mouse and keyboard. Long formulas break after operators; the break
// marks never reach the clipboard.
#pragma once

#include <QLabel>

namespace shardscape::ui {

class CopyLabel : public QLabel {
  Q_OBJECT
 public:
  CopyLabel(const QString& text, QWidget* parent, bool breakable = false);
  void setWords(const QString& text);  // equal text keeps its selection
  QString cleanSelection() const;      // without break marks
  void setTerm(bool term);             // a dotted underline, as of terms of the glossary
  bool isTerm() const { return is_term_; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool event(QEvent* event) override;

 private:
  const bool breakable_;
  bool is_term_ = false;
};

}  // namespace shardscape::ui
