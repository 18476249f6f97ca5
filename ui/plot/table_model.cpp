#include "ui/plot/table_model.h"

#include <QFont>

#include "ui/toolkit/glossary.h"

namespace shardscape::ui {
namespace {

QString csv_field(QString text) {
  if (!text.contains(u',') && !text.contains(u'"') && !text.contains(u'\n')) return text;
  return u'"' + text.replace(u'"', QStringLiteral("\"\"")) + u'"';
}

bool same_labels(const std::vector<TableColumn>& a, const std::vector<TableColumn>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const TableColumn& x, const TableColumn& y) {
    return x.label == y.label && x.raw_label == y.raw_label && x.number == y.number && x.tip == y.tip &&
           x.spare == y.spare;
  });
}

}  // namespace

TableCell text_cell(const QString& text, const QString& raw) {
  TableCell cell;
  cell.text = text;
  cell.raw = raw.isNull() ? text : raw;
  cell.sort = text;
  cell.tip = text;  // for columns that are too narrow
  return cell;
}

TableCell number_cell(Wide value, const QString& text, const QString& tip) {
  TableCell cell;
  cell.text = text;
  cell.raw = raw_text(value);
  cell.sort = to_double(value);
  cell.tip = tip.isNull() ? grouped_text(value) : tip;
  return cell;
}

int TableModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int TableModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(columns_.size());
}

QVariant TableModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const TableCell& cell = rows_[static_cast<size_t>(index.row())][static_cast<size_t>(index.column())];
  switch (role) {
    case Qt::DisplayRole: return cell.text;
    case Qt::ToolTipRole: return cell.tip.isEmpty() ? QVariant() : cell.tip;
    case Qt::TextAlignmentRole: {
      const bool number = columns_[static_cast<size_t>(index.column())].number;
      return int((number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    }
    case Qt::FontRole: {
      if (!cell.strong) return {};
      QFont font;
      font.setWeight(QFont::DemiBold);
      return font;
    }
    case SortRole: return cell.sort;
    case RawRole: return cell.raw;
    case AlarmRole: return cell.alarm;
    case GoodRole: return cell.good;
    case SetRole: return cell.set;
    case TermRole: return cell.term;
    default: return {};
  }
}

QVariant TableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) {
    return QAbstractTableModel::headerData(section, orientation, role);
  }
  const TableColumn& column = columns_[static_cast<size_t>(section)];
  switch (role) {
    case Qt::DisplayRole: return column.label;
    case Qt::ToolTipRole: {
      const QString tip = column.tip.isEmpty() ? Glossary::instance().tip(column.label) : column.tip;
      return tip.isEmpty() ? QVariant() : tip;
    }
    case Qt::TextAlignmentRole:
      return int((column.number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case RawRole: return column.raw_label;
    case SpareRole: return column.spare;
    default: return {};
  }
}

void TableModel::assign(std::vector<TableColumn> columns, Rows rows) {
  const bool same_shape = columns.size() == columns_.size() && rows.size() == rows_.size();
  if (!same_shape) {
    beginResetModel();
    columns_ = std::move(columns);
    rows_ = std::move(rows);
    endResetModel();
    return;
  }
  const bool same_headers = same_labels(columns, columns_);
  columns_ = std::move(columns);
  rows_ = std::move(rows);
  if (!same_headers) Q_EMIT headerDataChanged(Qt::Horizontal, 0, columnCount() - 1);
  if (!rows_.empty()) Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
}

QString csv_text(const QAbstractItemModel& model) {
  QString text;
  for (int row = -1; row < model.rowCount(); ++row) {
    for (int column = 0; column < model.columnCount(); ++column) {
      const QVariant value = row < 0 ? model.headerData(column, Qt::Horizontal, TableModel::RawRole)
                                     : model.index(row, column).data(TableModel::RawRole);
      if (column > 0) text += u',';
      text += csv_field(value.toString());
    }
    text += u'\n';
  }
  return text;
}

}  // namespace shardscape::ui
