#include "ui/plot/chart_table.h"

#include <QAction>
#include <QClipboard>
#include <QGuiApplication>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLineEdit>
#include <QPainter>
#include <QScopedValueRollback>
#include <QScrollBar>
#include <QSortFilterProxyModel>
#include <QStyledItemDelegate>
#include <algorithm>
#include <utility>

#include "ui/plot/table_model.h"
#include "ui/toolkit/contrast.h"
#include "ui/toolkit/glossary.h"
#include "ui/toolkit/theme.h"

namespace shardscape::ui {
namespace {

constexpr int kRowHeight = 26, kEditorWidth = 150;
constexpr int kCellMargin = 7,
              kLeastMargin = 3;  // on each side of a cell; the second if columns would not fit
constexpr int kLeastText = 72;   // of a text column: shorter texts end in "…" and are whole in the tool tip
constexpr int kGoodText = 150;   // margins shrink before texts are cut below this width

// Source rows as ranges of shown rows, from top to bottom. Each painted cell is compared with all ranges, so
// rows that follow each other share one, and nothing is selected if there are more ranges than a person
// scrolls through.
QItemSelection ranges_of(const std::vector<int>& source_rows, const QSortFilterProxyModel& sorted) {
  constexpr int kMostRanges = 4096;
  std::vector<int> rows;
  for (const int row : source_rows)
    if (const QModelIndex shown = sorted.mapFromSource(sorted.sourceModel()->index(row, 0)); shown.isValid())
      rows.push_back(shown.row());
  std::sort(rows.begin(), rows.end());
  QItemSelection out;
  for (size_t first = 0, end = 0; first < rows.size(); first = end) {
    for (end = first + 1; end < rows.size() && rows[end] <= rows[end - 1] + 1;) ++end;
    if (out.size() == kMostRanges) return {};
    out.select(sorted.index(rows[first], 0), sorted.index(rows[end - 1], 0));
  }
  return out;
}

// Paints cells: hairlines between rows, the selected row in the soft accent, marked cells with a frame,
// alarms in the colour for problems, changes for the better in the colour for good, set values in the accent,
// a dotted underline below terms of the glossary. Also edits cells.
class RowDelegate : public QStyledItemDelegate {
 public:
  RowDelegate(const int& margin, ChartTable* table)
      : QStyledItemDelegate(table), margin_(margin), table_(table) {}

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    const Colors& colors = Theme::instance().colors();
    QStyleOptionViewItem item = option;
    initStyleOption(&item, index);
    const bool selected = item.state & QStyle::State_Selected;
    painter->fillRect(item.rect, selected ? colors.accent_soft : colors.ground);
    painter->setPen(colors.line);
    painter->drawLine(item.rect.bottomLeft(), item.rect.bottomRight());
    const QRect inside = item.rect.adjusted(margin_, 0, -margin_, 0);
    painter->setFont(item.font);
    painter->setPen(index.data(TableModel::AlarmRole).toBool()  ? colors.bad
                    : index.data(TableModel::GoodRole).toBool() ? colors.good
                    : index.data(TableModel::SetRole).toBool()
                        ? readable(colors.accent, selected ? colors.accent_soft : colors.ground)
                        : colors.text);
    const QString text = item.fontMetrics.elidedText(item.text, Qt::ElideRight, inside.width());
    painter->drawText(inside, static_cast<int>(item.displayAlignment) | Qt::TextSingleLine, text);
    if (index.data(TableModel::TermRole).toBool())
      underlineTerm(*painter, inside, item.displayAlignment, text);
    const auto& cells = table_->markedCells();
    if (cells.empty() ||
        std::find(cells.begin(), cells.end(),
                  std::pair(table_->sorted()->mapToSource(index).row(), index.column())) == cells.end())
      return;
    painter->setPen(QPen(colors.text, 1.6));
    painter->setBrush(Qt::NoBrush);
    painter->drawRect(QRectF(item.rect).adjusted(1, 2, -2, -3));
  }

  QWidget* createEditor(QWidget* parent, const QStyleOptionViewItem&,
                        const QModelIndex& index) const override {
    return table_->makeEditor(parent, index);
  }
  void setEditorData(QWidget*, const QModelIndex&) const override {}  // the maker has filled the editor
  void setModelData(QWidget* editor, QAbstractItemModel*, const QModelIndex& index) const override {
    table_->commit(index, *qobject_cast<QLineEdit*>(editor));
  }
  // The editor is as wide as a field of the form.
  void updateEditorGeometry(QWidget* editor, const QStyleOptionViewItem& option,
                            const QModelIndex&) const override {
    QRect room = option.rect;
    room.setLeft(std::min(room.left(), room.right() - kEditorWidth));
    editor->setGeometry(room);
  }

  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    QStyleOptionViewItem item = option;
    initStyleOption(&item, index);
    return {item.fontMetrics.horizontalAdvance(item.text) + 2 * margin_ + 2, kRowHeight};
  }

 private:
  const int& margin_;  // of the table
  ChartTable* table_;
};

// Paints the header: small captions over a hairline, and a mark at the sorted column.
class CaptionHeader : public QHeaderView {
 public:
  CaptionHeader(const int& margin, QWidget* parent) : QHeaderView(Qt::Horizontal, parent), margin_(margin) {
    setSectionsClickable(true);
    setHighlightSections(false);
    setMinimumSectionSize(36);
  }

 protected:
  void paintSection(QPainter* painter, const QRect& rect, int section) const override {
    const Colors& colors = Theme::instance().colors();
    const bool sorted = isSortIndicatorShown() && sortIndicatorSection() == section;
    painter->fillRect(rect, colors.ground);
    painter->setPen(colors.line);
    painter->drawLine(rect.bottomLeft(), rect.bottomRight());
    painter->setPen(sorted ? colors.text : colors.secondary);
    painter->setFont(font());
    const int alignment = model()->headerData(section, Qt::Horizontal, Qt::TextAlignmentRole).toInt();
    const QString text = model()->headerData(section, Qt::Horizontal).toString();
    const QRect inside = rect.adjusted(margin_, 3, -margin_, -3);
    // A caption may have several lines. It ends in "…" if the column is narrower than one line.
    const bool single = !text.contains(u'\n');
    painter->drawText(
        inside, (alignment & Qt::AlignHorizontal_Mask) | Qt::AlignBottom,
        single ? painter->fontMetrics().elidedText(text, Qt::ElideRight, inside.width()) : text);
    if (single && !Glossary::instance().sentence(text).isEmpty())
      underlineTerm(*painter, inside, Qt::Alignment(alignment & Qt::AlignHorizontal_Mask) | Qt::AlignBottom,
                    text);
    if (sorted) drawMark(painter, rect, alignment & Qt::AlignRight);
  }

  QSize sectionSizeFromContents(int section) const override {
    const QString text = model()->headerData(section, Qt::Horizontal).toString();
    const QSize size = QFontMetrics(font()).size(0, text);
    return {size.width() + 2 * margin_ + 2, size.height() + 8};
  }

 private:
  // The mark is in the margin, so that captions keep their room.
  void drawMark(QPainter* painter, const QRect& rect, bool at_right) const {
    const bool up = sortIndicatorOrder() == Qt::AscendingOrder;
    const double x = at_right ? rect.right() - margin_ / 2.0 + 0.5 : rect.left() + margin_ / 2.0 - 0.5;
    const double y = rect.bottom() - 10;
    const double d = up ? -2.5 : 2.5;
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setBrush(painter->pen().color());
    painter->setPen(Qt::NoPen);
    painter->drawPolygon(QPolygonF({{x - 3, y - d}, {x + 3, y - d}, {x, y + d}}));
    painter->restore();
  }

  const int& margin_;  // of the table
};

// Shrinks columns to the available width. The widest text columns shrink to one common width, but never below
// their captions. Number columns keep their width. If the table has to scroll anyway, texts stay readable.
void shrink(QList<int>& widths, const QList<bool>& words, const QList<int>& captions, int room) {
  const auto capped = [&](qsizetype i, int cap) {
    return words[i] ? std::min(widths[i], std::max(cap, captions[i])) : widths[i];
  };
  const auto total = [&](int cap) {
    int sum = 0;
    for (qsizetype i = 0; i < widths.size(); ++i) sum += capped(i, cap);
    return sum;
  };
  int low = total(kLeastText) > room ? kGoodText : kLeastText,
      high = *std::max_element(widths.begin(), widths.end());
  while (low < high) {  // the largest cap with which all fits
    const int middle = (low + high + 1) / 2;
    if (total(middle) <= room)
      low = middle;
    else
      high = middle - 1;
  }
  for (qsizetype i = 0; i < widths.size(); ++i) widths[i] = capped(i, low);
}

QString one_line(QString text) { return text.replace(u'\n', u' ').replace(u'\t', u' '); }

}  // namespace

ChartTable::ChartTable(QWidget* parent)
    : QTableView(parent), sorted_(new QSortFilterProxyModel(this)), margin_(kCellMargin) {
  sorted_->setSortRole(TableModel::SortRole);
  sorted_->setDynamicSortFilter(true);
  auto* header = new CaptionHeader(margin_, this);
  setHorizontalHeader(header);
  setItemDelegate(new RowDelegate(margin_, this));
  verticalHeader()->hide();
  verticalHeader()->setDefaultSectionSize(kRowHeight);
  verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  setFrameShape(QFrame::NoFrame);
  setShowGrid(false);
  setWordWrap(false);
  setTabKeyNavigation(false);
  setSelectionBehavior(SelectRows);
  setSelectionMode(ExtendedSelection);
  setHorizontalScrollMode(ScrollPerPixel);
  setVerticalScrollMode(ScrollPerPixel);
  setCornerButtonEnabled(false);

  const auto add_action = [this](const QString& text, auto slot) {
    auto* action = new QAction(text, this);
    action->setShortcutContext(Qt::WidgetShortcut);
    connect(action, &QAction::triggered, this, slot);
    addAction(action);
    return action;
  };
  add_action(tr("Copy rows with headers"), &ChartTable::copyRows)->setShortcut(QKeySequence::Copy);
  add_action(tr("Copy raw values"), &ChartTable::copyRaw)->setShortcut(QKeySequence(tr("Ctrl+Alt+C")));
  setContextMenuPolicy(Qt::ActionsContextMenu);
  setFont(Theme::instance().uiFont(12));
  horizontalHeader()->setFont(Theme::instance().uiFont(11));
}

void ChartTable::setTable(TableModel* model, const QList<int>& left_out) {
  left_out_ = left_out;
  sorted_->setSourceModel(model);
  setModel(sorted_);
  setSortingEnabled(true);
  sortByColumn(-1, Qt::AscendingOrder);  // the model's order, until a header is clicked
  horizontalHeader()->setSortIndicatorClearable(true);
  connect(selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          [this](const QModelIndex& current) {
            if (current.isValid()) chooseRow(current.row());
          });
  // A click on the current row shows its formula again.
  connect(this, &QTableView::clicked, this, [this](const QModelIndex& index) { chooseRow(index.row()); });
  connect(model, &QAbstractItemModel::modelReset, this, &ChartTable::fitColumns);
  connect(model, &QAbstractItemModel::dataChanged, this, &ChartTable::fitColumns);
}

void ChartTable::leaveOut(const QList<int>& columns) {
  for (const int column : left_out_) setColumnHidden(column, false);
  left_out_ = columns;
  fitColumns();
}

void ChartTable::setEditor(int column, MakeEditor make) {
  edited_column_ = column;
  make_editor_ = std::move(make);
  setEditTriggers(NoEditTriggers);  // the whole row reacts, below and in keyPressEvent()
  connect(this, &QTableView::doubleClicked, this,
          [this](const QModelIndex& index) { editRow(sorted_->mapToSource(index).row()); });
}

void ChartTable::editRow(int source_row) {
  const QModelIndex index = sorted_->mapFromSource(sorted_->sourceModel()->index(source_row, edited_column_));
  if (make_editor_ && index.flags() & Qt::ItemIsEditable) edit(index);
}

QWidget* ChartTable::makeEditor(QWidget* parent, const QModelIndex& index) const {
  return make_editor_ ? make_editor_(parent, sorted_->mapToSource(index).row()) : nullptr;
}

void ChartTable::commit(const QModelIndex& index, const QLineEdit& editor) {
  Q_EMIT edited(sorted_->mapToSource(index).row(), editor.text());
}

void ChartTable::chooseRow(int row) {
  if (quiet_) return;
  const QScopedValueRollback<bool> guard(selecting_, true);
  Q_EMIT rowSelected(sorted_->mapToSource(sorted_->index(row, 0)).row());
}

void ChartTable::showRow(int source_row, const std::vector<int>& also) {
  const QScopedValueRollback<bool> guard(quiet_, true);
  const QModelIndex index = sorted_->mapFromSource(sorted_->sourceModel()->index(source_row, 0));
  const QItemSelection rows = ranges_of(also, *sorted_);
  if (!index.isValid()) {
    selectionModel()->clear();
    if (rows.isEmpty()) return;
    selectionModel()->select(rows, QItemSelectionModel::Select | QItemSelectionModel::Rows);
    return scrollTo(withShownColumn(rows.front().topLeft()));
  }
  // During a selection by mouse, the view changes the selection itself (Ctrl or Shift may be held).
  if (currentIndex().row() == index.row() &&
      (selecting_ || (also.size() < 2 && selectionModel()->isRowSelected(index.row()))))
    return;
  const QModelIndex target = withShownColumn(index);
  selectionModel()->setCurrentIndex(target, QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
  if (!rows.isEmpty())
    selectionModel()->select(rows, QItemSelectionModel::Select | QItemSelectionModel::Rows);
  scrollTo(target);
}

// Keeps the current column for the arrow keys, unless the column is hidden: then the first shown column.
QModelIndex ChartTable::withShownColumn(const QModelIndex& index) const {
  int column = std::max(0, currentIndex().column());
  while (isColumnHidden(column) && column + 1 < sorted_->columnCount()) ++column;
  return index.siblingAtColumn(column);
}

void ChartTable::setMarkedCells(std::vector<std::pair<int, int>> cells) {
  if (cells == marked_cells_) return;
  marked_cells_ = std::move(cells);
  viewport()->update();
}

std::vector<int> ChartTable::selectedSourceRows() const {
  std::vector<int> out;
  for (const QModelIndex& index : selectionModel()->selectedRows())
    out.push_back(sorted_->mapToSource(index).row());
  std::sort(out.begin(), out.end());
  return out;
}

QString ChartTable::copyText(CopyAs as) const {
  QList<int> rows;
  for (const QModelIndex& index : selectionModel()->selectedRows()) rows.append(index.row());
  std::sort(rows.begin(), rows.end());
  if (rows.isEmpty()) {
    for (int row = 0; row < sorted_->rowCount(); ++row) rows.append(row);
  }
  const int role = as == CopyAs::Raw ? int(TableModel::RawRole) : int(Qt::DisplayRole);
  QStringList lines;
  const auto join = [&](auto value_of) {
    QStringList fields;
    for (int column = 0; column < sorted_->columnCount(); ++column) {
      if (!left_out_.contains(column)) fields.append(one_line(value_of(column).toString()));
    }
    lines.append(fields.join(u'\t'));
  };
  join([&](int column) { return sorted_->headerData(column, Qt::Horizontal, role); });
  for (const int row : rows) {
    join([&](int column) { return sorted_->index(row, column).data(role); });
  }
  return lines.join(u'\n') + u'\n';
}

void ChartTable::copyRows() { QGuiApplication::clipboard()->setText(copyText(CopyAs::Shown)); }

void ChartTable::copyRaw() { QGuiApplication::clipboard()->setText(copyText(CopyAs::Raw)); }

void ChartTable::setSpareHidden(bool hidden) {
  for (int column = 0; column < model()->columnCount(); ++column)
    if (model()->headerData(column, Qt::Horizontal, TableModel::SpareRole).toBool() &&
        isColumnHidden(column) != hidden)
      setColumnHidden(column, hidden);
}

void ChartTable::fitColumns() {
  if (!model() || model()->columnCount() == 0) return;
  setSpareHidden(false);
  for (const int column : left_out_) setColumnHidden(column, true);
  const int room = viewport()->width();
  // Widths with the wide margin; measuring the texts of all rows takes long.
  margin_ = kCellMargin;
  QList<int> contents, headers;
  for (int column = 0; column < model()->columnCount(); ++column) {
    const bool hidden = isColumnHidden(column);
    headers.append(hidden ? 0 : horizontalHeader()->sectionSizeHint(column));
    contents.append(hidden ? 0 : sizeHintForColumn(column));
  }
  QList<int> widths, captions;
  QList<bool> words;
  int last = -1, total = 0, least = 0;
  bool spared = false;
  for (margin_ = kCellMargin;; --margin_) {
    widths.clear();
    captions.clear();
    words.clear();
    total = least = 0;
    for (int column = 0; column < model()->columnCount(); ++column) {
      const bool hidden = isColumnHidden(column);
      const int narrower = 2 * (kCellMargin - margin_);
      captions.append(
          hidden ? 0 : std::max(headers[column] - narrower, horizontalHeader()->minimumSectionSize()));
      widths.append(hidden ? 0 : std::max(contents[column] - narrower, captions.back()));
      words.append(!hidden && !(model()->headerData(column, Qt::Horizontal, Qt::TextAlignmentRole).toInt() &
                                Qt::AlignRight));
      total += widths.back();
      least += words.back() ? std::min(widths.back(), kGoodText) : widths.back();
      if (!hidden) last = column;
    }
    if (least <= room) break;
    if (margin_ > kLeastMargin) continue;
    if (std::exchange(spared, true)) break;
    setSpareHidden(true);
    margin_ = kCellMargin + 1;  // starts with the wide margin again
  }
  if (last < 0) return;
  if (total > room) {
    shrink(widths, words, captions, room);
  } else if (words[last]) {
    widths[last] += room - total;
  } else {
    const int visible = static_cast<int>(
        std::count_if(widths.begin(), widths.end(), [](int width) { return width > 0; }));
    for (int& width : widths) width += width > 0 ? (room - total) / visible : 0;
  }
  for (int column = 0; column < widths.size(); ++column) {
    if (widths[column] > 0) setColumnWidth(column, widths[column]);
  }
}

int ChartTable::fullHeight() const {
  const int bar = horizontalScrollBar() && horizontalHeader()->length() > viewport()->width() ? 14 : 0;
  const int rows = model() ? model()->rowCount() : 0;
  return horizontalHeader()->sizeHint().height() + rows * kRowHeight + bar + 2;
}

int ChartTable::heightUpTo(int most) const {
  const int full = fullHeight();
  if (full <= most) return full;
  const int rows = model() ? model()->rowCount() : 0, above = full - rows * kRowHeight;
  return above + std::max(1, (most - above) / kRowHeight) * kRowHeight;
}

void ChartTable::keyPressEvent(QKeyEvent* event) {
  if (event->matches(QKeySequence::Copy)) {
    copyRows();
    event->accept();
    return;
  }
  if (event->key() == Qt::Key_F2 && make_editor_ && currentIndex().isValid())
    return editRow(sorted_->mapToSource(currentIndex()).row());
  // Return shows the row in the inspector again.
  if ((event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) && currentIndex().isValid()) {
    chooseRow(currentIndex().row());
    return;
  }
  QTableView::keyPressEvent(event);
}

void ChartTable::resizeEvent(QResizeEvent* event) {
  QTableView::resizeEvent(event);
  fitColumns();
}

// The focus frame lies around the rows, not around the empty area below them.
void ChartTable::paintEvent(QPaintEvent* event) {
  QTableView::paintEvent(event);
  if (!hasFocus() || !model()) return;
  const int last = model()->rowCount() - 1,
            bottom = last < 0 ? kRowHeight : rowViewportPosition(last) + rowHeight(last);
  QPainter painter(viewport());
  painter.setPen(Theme::instance().colors().accent);
  painter.drawRect(0, 0, viewport()->width() - 1, std::min(bottom, viewport()->height()) - 1);
}

void ChartTable::scrollContentsBy(int dx, int dy) {
  QTableView::scrollContentsBy(dx, dy);
  if (hasFocus()) viewport()->update();  // the frame does not scroll
}

void ChartTable::focusInEvent(QFocusEvent* event) {
  QTableView::focusInEvent(event);
  viewport()->update();
}

void ChartTable::focusOutEvent(QFocusEvent* event) {
  QTableView::focusOutEvent(event);
  viewport()->update();
}

void ChartTable::changeEvent(QEvent* event) {
  QTableView::changeEvent(event);
  if (event->type() == QEvent::FontChange && model()) fitColumns();
}

}  // namespace shardscape::ui
