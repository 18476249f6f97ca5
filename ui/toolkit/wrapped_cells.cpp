#include "ui/toolkit/wrapped_cells.h"

#include <QHeaderView>
#include <QTableView>
#include <algorithm>

namespace shardscape::ui {
namespace {

constexpr int kAir = 5;  // above the first line and below the last

}  // namespace

WrappedCells::WrappedCells(QTableView* table, int padding)
    : QStyledItemDelegate(table), table_(table), padding_(padding) {
  table->setItemDelegate(this);
  table->setWordWrap(true);
  table->verticalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
  // Wider columns need fewer lines. Qt does not measure the rows again by itself.
  connect(
      table->horizontalHeader(), &QHeaderView::sectionResized, table->verticalHeader(),
      [table] { table->verticalHeader()->resizeSections(QHeaderView::ResizeToContents); },
      Qt::QueuedConnection);
}

// Qt measures as if text could fill the padding, and the row becomes one line too low.
QSize WrappedCells::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const {
  const QSize usual = QStyledItemDelegate::sizeHint(option, index);
  const int width = table_->columnWidth(index.column());
  const bool fixed = table_->horizontalHeader()->sectionResizeMode(index.column()) == QHeaderView::Stretch;
  if (!fixed || !index.data(Qt::DecorationRole).isNull()) return usual;
  QStyleOptionViewItem item = option;
  initStyleOption(&item, index);
  const int room = std::max(
      1, width - 2 * padding_ - 2 * (table_->style()->pixelMetric(QStyle::PM_FocusFrameHMargin) + 1));
  const QRect text = item.fontMetrics.boundingRect(QRect(0, 0, room, QWIDGETSIZE_MAX), Qt::TextWordWrap,
                                                   item.text);
  return {usual.width(), std::max(usual.height(), text.height() + 2 * kAir)};
}

}  // namespace shardscape::ui
