// What lies over a view while its numbers are not those of the present design: dimmed while computing, a
// sentence and a way out where the design has problems.
#pragma once

#include <QFrame>

class QBoxLayout;
class QLabel;

namespace shardscape::ui {

class Session;
class Staleness;

class ChartNotice : public QWidget {
  Q_OBJECT
 public:
  // Covers the given widget, follows its size.
  ChartNotice(Session* session, QWidget* covered);
  bool dimmed() const { return !isHidden(); }
  QWidget* card() const { return card_; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void refresh();
  void veil();
  void fillCard();
  void place(bool anew = true);
  Session* session_;
  QFrame* card_;
  QLabel* headline_;
  QLabel* sentence_;
  QBoxLayout* ways_out_;  // next to each other, or below where they are too wide
  Staleness* staleness_;
};

}  // namespace shardscape::ui
