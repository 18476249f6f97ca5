// The table of a chart: sorted by its headers on raw values, copied as tab-separated text with headers.
#pragma once

#include <QTableView>
#include <functional>
#include <utility>
#include <vector>

class QLineEdit;
class QSortFilterProxyModel;

namespace shardscape::ui {

class TableModel;

class ChartTable : public QTableView {
  Q_OBJECT
 public:
  enum class CopyAs { Shown, Raw };

  explicit ChartTable(QWidget* parent = nullptr);
  void setTable(TableModel* model, const QList<int>& left_out = {});  // columns of the export only
  void leaveOut(const QList<int>& columns);                           // replaces the list of hidden columns
  QSortFilterProxyModel* sorted() const { return sorted_; }

  // Selects a row of the unsorted model without a signal; -1 selects nothing. also: rows that belong to the
  // selection of any view. Without a selected row, the table scrolls to the first of them.
  void showRow(int source_row, const std::vector<int>& also = {});
  std::vector<int> selectedSourceRows() const;  // ascending
  // Cells that belong to the selection of any view: (row of the unsorted model, column).
  void setMarkedCells(std::vector<std::pair<int, int>> cells);
  const std::vector<std::pair<int, int>>& markedCells() const { return marked_cells_; }
  // The selected rows (all rows if none is selected), as shown or raw. Columns of the export only are left
  // out. Spare columns are included, even if hidden for lack of room.
  QString copyText(CopyAs as) const;
  // Lets a person change the cells of a column, by double click or F2, where the model's flags allow it.
  // make: the editor of a row. edited() has the text.
  using MakeEditor = std::function<QLineEdit*(QWidget* parent, int source_row)>;
  void setEditor(int column, MakeEditor make);
  void editRow(int source_row);
  // For the delegate: an editor of the cell, and its text.
  QWidget* makeEditor(QWidget* parent, const QModelIndex& index) const;
  void commit(const QModelIndex& index, const QLineEdit& editor);
  // Fits columns to their contents. If the table is too narrow, first margins shrink, texts are elided and
  // spare columns are hidden; only then does the table scroll. If it is too wide, trailing text columns take
  // the rest, or number columns share it.
  void fitColumns();
  // Height that shows the header and all rows.
  int fullHeight() const;
  int heightUpTo(int most) const;  // at most `most`, without a partly visible row

 public Q_SLOTS:
  void copyRows();
  void copyRaw();

 Q_SIGNALS:
  void rowSelected(int source_row);  // by mouse or keyboard
  void edited(int source_row, const QString& text);

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void scrollContentsBy(int dx, int dy) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;

 private:
  void chooseRow(int row);
  void setSpareHidden(bool hidden);
  QModelIndex withShownColumn(const QModelIndex& index) const;
  QSortFilterProxyModel* sorted_;
  MakeEditor make_editor_;
  int edited_column_ = -1;
  QList<int> left_out_;
  std::vector<std::pair<int, int>> marked_cells_;
  int margin_;  // on each side of a cell
  bool quiet_ = false, selecting_ = false;
};

}  // namespace shardscape::ui
