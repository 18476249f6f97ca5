// A read-only table of formatted texts with their raw values. All tables of charts use this model.
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
  bool spare = false;  // hidden if the table is too narrow; other columns imply its values
};

struct TableCell {
  QString text;
  QString raw;    // exact digits or the key, for export
  QVariant sort;  // compared when sorting
  QString tip;
  bool strong = false;
  bool alarm = false;  // a value that does not fit
  bool good = false;   // a change for the better
  bool set = false;    // a value that the design sets in place of a default
  bool term = false;   // a term of the glossary, which the tip explains: a dotted underline
};

TableCell text_cell(const QString& text, const QString& raw = {});
TableCell number_cell(Wide value, const QString& text, const QString& tip = {});

class TableModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  // Cells and horizontal headers have RawRole, headers also SpareRole.
  enum Role { SortRole = Qt::UserRole, RawRole, AlarmRole, SpareRole, GoodRole, SetRole, TermRole };

  using QAbstractTableModel::QAbstractTableModel;
  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

 protected:
  using Rows = std::vector<std::vector<TableCell>>;
  // If the number of rows and columns stays, cells change in place and sorting, selection and scrolling stay.
  void assign(std::vector<TableColumn> columns, Rows rows);

 private:
  std::vector<TableColumn> columns_;
  Rows rows_;
};

// The whole model as CSV with raw values: quoted where needed, one header line, "\n" between lines.
QString csv_text(const QAbstractItemModel& model);

}  // namespace shardscape::ui
