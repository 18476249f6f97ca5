// The table of a chart: sorted by its headers on raw values, copied as tab-separated text with headers.
#pragma once

#include <QTableView>
#include <utility>
#include <vector>

class QSortFilterProxyModel;

namespace shardscape::ui {

class TableModel;

class ChartTable : public QTableView {
  Q_OBJECT
 public:
  enum class CopyAs { Shown, Raw };

  explicit ChartTable(QWidget* parent = nullptr);
  void setTable(TableModel* model, const QList<int>& left_out = {});  // columns that only the export wants
  void leaveOut(const QList<int>& columns);                           // these from now on
  QSortFilterProxyModel* sorted() const { return sorted_; }

  // Selects the row of the unsorted model without telling; -1 selects nothing. Also: rows that belong to what
  // is selected in any view; the first of them comes into view where no row is selected itself.
  void showRow(int source_row, const std::vector<int>& also = {});
  std::vector<int> selectedSourceRows() const;  // ascending
  // Single cells that belong to what is selected in any view: row of the unsorted model, column.
  void setMarkedCells(std::vector<std::pair<int, int>> cells);
  const std::vector<std::pair<int, int>>& markedCells() const { return marked_cells_; }
  // The selected rows, or all when none is, as shown (or raw); columns for the export are left out, those
  // without room are not.
  QString copyText(CopyAs as) const;
  // Columns get what their contents want. Where that is too much, spare columns go, words are elided and
  // margins become narrow before the table scrolls; where it is less, words at the end take the rest, and
  // numbers share it.
  void fitColumns();
  // Height that shows the header and all rows.
  int fullHeight() const;
  int heightUpTo(int most) const;  // no more than that, and no row cut

 public Q_SLOTS:
  void copyRows();
  void copyRaw();

 Q_SIGNALS:
  void rowSelected(int source_row);  // by mouse or keyboard

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  void restyle();
  void chooseRow(int row);
  void setSpareHidden(bool hidden);
  QModelIndex withShownColumn(const QModelIndex& index) const;
  QSortFilterProxyModel* sorted_;
  QList<int> left_out_;
  std::vector<std::pair<int, int>> marked_cells_;
  int margin_;  // on each side of a cell
  bool quiet_ = false, selecting_ = false;
};

}  // namespace shardscape::ui
