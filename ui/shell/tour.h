// A short tour of the window: a bubble that points at one part after the other. Enter and Right go on, Left
// goes back, Escape ends.
#pragma once

#include <QFrame>
#include <QPointer>
#include <QVector>

class QLabel;
class QPushButton;

namespace shardscape::ui {

struct TourStep {
  QPointer<QWidget> part;
  QRect area;  // of the part; empty: the whole part
  QString title, text;
};

class Tour : public QFrame {
  Q_OBJECT
 public:
  Tour(const QVector<TourStep>& steps, QWidget* window);  // deletes itself at its end
  int step() const { return at_; }
  int steps() const { return static_cast<int>(steps_.size()); }
  QPushButton* nextButton() const { return next_; }
  QPushButton* backButton() const { return back_; }
  QWidget* frame() const { return frame_; }  // around the part of the present step

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void go(int step);
  void place();
  void finish();
  QVector<TourStep> steps_;
  QWidget *window_, *frame_;
  QLabel *title_, *text_, *count_;
  QPushButton *back_, *next_;
  int at_ = -1;
};

}  // namespace shardscape::ui
