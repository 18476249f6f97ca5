// Covers a view while its numbers do not belong to the present design. Dims the view while computing. Shows a
// card with the problem and its fixes if the design has problems.
#pragma once

#include <QFrame>
#include <QPointer>

class QBoxLayout;
class QLabel;

namespace shardscape::ui {

class Session;
class Staleness;

class ChartNotice : public QWidget {
  Q_OBJECT
 public:
  // Covers the widget and follows its size.
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
  void hideCard();
  Session* session_;
  QFrame* card_;
  QLabel* headline_;
  QLabel *count_, *sentence_;  // "Problem 1 of 4"
  QBoxLayout* fix_buttons_;    // buttons in a row, or in a column if the row is too wide
  bool dismissed_ = false;     // by the person, until a design can be computed
  Staleness* staleness_;
  QPointer<QWidget> focus_before_;  // had the focus before a button of the card
};

}  // namespace shardscape::ui
