// A field that searches a view: matches are counted inside it, Enter and Shift+Enter go through them, Escape
// empties it and leaves.
#pragma once

#include <QLineEdit>
#include <QStringList>

class QLabel;

namespace shardscape::ui {

class SearchField : public QLineEdit {
  Q_OBJECT
 public:
  // hints: what can be searched for, longest first; the first that fits is shown.
  SearchField(const QStringList& hints, QWidget* parent);
  void setMatches(int count);  // of the present words
  QString matchesText() const;
  void activate();  // focused, all selected

 Q_SIGNALS:
  void searched();          // the words changed
  void entered(int match);  // from 0
  void left();              // it is empty, and somebody else should have the focus

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void go(int step);
  void showCount();
  QStringList hints_;
  QLabel* count_label_;
  int matches_ = 0, at_ = -1;
};

}  // namespace shardscape::ui
