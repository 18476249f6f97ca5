// Cells of a table whose text goes on in further lines, in rows as high as their longest text.
#pragma once

#include <QStyledItemDelegate>

class QTableView;

namespace shardscape::ui {

class WrappedCells : public QStyledItemDelegate {
  Q_OBJECT
 public:
  // Takes the table's delegate and the height of its rows; padding: the style sheet's, on each side of a
  // cell.
  WrappedCells(QTableView* table, int padding);
  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;

 private:
  QTableView* table_;
  int padding_;
};

}  // namespace shardscape::ui
