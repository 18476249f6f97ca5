// A field over the top right corner of a table that finds rows by the text of any cell. Ctrl+F opens it.
#pragma once

#include <QFrame>
#include <QVector>

class QAbstractItemView;

namespace shardscape::ui {

class SearchField;

class TableSearch : public QFrame {
  Q_OBJECT
 public:
  // Opens the search of this table; the table owns it.
  static TableSearch* open(QAbstractItemView* table);
  // The table that a search in this widget is about: the focused one, else the largest visible one. nullptr:
  // there is none.
  static QAbstractItemView* tableIn(const QWidget* view);
  SearchField* field() const { return field_; }

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  explicit TableSearch(QAbstractItemView* table);
  void find();
  void place();
  QAbstractItemView* table_;
  SearchField* field_;
  QVector<int> rows_;  // that have the text
};

}  // namespace shardscape::ui
