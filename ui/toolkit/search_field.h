// A field that searches a view. The field shows the number of matches. Enter and Shift+Enter go through the
// matches. Escape clears the field and leaves it.
#pragma once

#include <QLineEdit>
#include <QStringList>

class QLabel;

namespace shardscape::ui {

class SearchField : public QLineEdit {
  Q_OBJECT
 public:
  // hints: placeholder texts, longest first. The field shows the first hint that fits.
  SearchField(const QStringList& hints, QWidget* parent);
  void setMatches(int count);  // for the current text
  QString matchesText() const;
  void activate();  // focused, all selected

 Q_SIGNALS:
  void searched();          // the text changed
  void entered(int match);  // from 0
  void left();              // the field is empty and gives up the focus

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
