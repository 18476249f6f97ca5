// The list of a SearchableCombo: a line of words, and the entries that contain all of them.
#pragma once

#include <QFrame>

class QAbstractItemModel;
class QComboBox;
class QLabel;
class QLineEdit;
class QListView;

namespace shardscape::ui {

class ComboPopup : public QFrame {
  Q_OBJECT
 public:
  explicit ComboPopup(QComboBox* box);
  void open(const QString& words);
  QLineEdit* line() const { return line_; }
  QAbstractItemModel* model() const;  // the entries that match

 Q_SIGNALS:
  void chosen(int index);  // of the box

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  class Matching;
  void find(const QString& words);
  void move(int rows);  // skips disabled entries
  void choose();
  void place();
  QComboBox* box_;
  Matching* shown_;
  QLineEdit* line_;
  QListView* list_;
  QLabel* no_match_;
};

}  // namespace shardscape::ui
