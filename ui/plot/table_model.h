// A read-only table of ready texts with their raw values: what every chart's table is made of.
#pragma once

#include <QAbstractTableModel>
#include <QVariant>
#include <vector>

#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {

struct TableColumn {
  QString label;      // header, may hold a line break
  QString raw_label;  // header of exported raw values, with the unit: "total (bytes)"
  bool number = false;
  QString tip;
  bool spare = false;  // left out where a table is too narrow for all: others say the same in other words
};

struct TableCell {
  QString text;
  QString raw;    // exact digits or the key, for export
  QVariant sort;  // compared when sorting
  QString tip;
  bool strong = false;
  bool alarm = false;  // a value that does not fit
};

TableCell text_cell(const QString& text, const QString& raw = {});
TableCell number_cell(Wide value, const QString& text, const QString& tip = {});

class TableModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  // RawRole is answered by cells and by horizontal headers, SpareRole by headers.
  enum Role { SortRole = Qt::UserRole, RawRole, AlarmRole, SpareRole };

  using QAbstractTableModel::QAbstractTableModel;
  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

 protected:
  using Rows = std::vector<std::vector<TableCell>>;
  // Same shape: cells change in place, so that sorting, selection and scrolling survive an edit.
  void assign(std::vector<TableColumn> columns, Rows rows);

 private:
  std::vector<TableColumn> columns_;
  Rows rows_;
};

// The whole model as CSV with raw values: quoted where needed, one header line, "\n" between lines.
QString csv_text(const QAbstractItemModel& model);

}  // namespace shardscape::ui
