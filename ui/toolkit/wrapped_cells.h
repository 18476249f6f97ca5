// Table cells with wrapped text. Each row is as high as its longest text needs.
#pragma once

#include <QStyledItemDelegate>

class QTableView;

namespace shardscape::ui {

class WrappedCells : public QStyledItemDelegate {
  Q_OBJECT
 public:
  // Becomes the delegate of the table and sets the row heights. padding: pixels on each side of a cell, from
  // the style sheet.
  WrappedCells(QTableView* table, int padding);
  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;

 private:
  QTableView* table_;
  int padding_;
};

}  // namespace shardscape::ui
