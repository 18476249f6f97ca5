#include "ui/views/explore/designs_page.h"

#include <QAction>
#include <QComboBox>
#include <QHBoxLayout>
#include <QHash>
#include <QKeyEvent>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QSortFilterProxyModel>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/plot/chart_table.h"
#include "ui/toolkit/copy_command.h"
#include "ui/toolkit/elided_label.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/value_scale.h"
#include "ui/views/explore/designs_model.h"
#include "ui/views/explore/filter_strips.h"

namespace shardscape::ui {
namespace {

enum Box { X, Y, Colour, Shape };
// The largest share of the page's height for the table; the second one is for pages lower than kLowPage.
constexpr double kTableShare = 0.27, kLowTableShare = 0.22;
constexpr int kLeastTable = 92;  // pixels
constexpr int kLowPage = 620;    // pixels; on lower pages, filters and table leave room for the scatter plot
// Figures that are hidden in the table until the person shows them.
constexpr const char* kRarelyWanted[] = {"headroom", "cost", "energy", "gpus", "model_tflops"};

}  // namespace

DesignsPage::DesignsPage(QWidget* parent) : QWidget(parent) {
  chosen_[X] = QStringLiteral("memory");
  chosen_[Y] = QStringLiteral("step_time");
  chosen_[Colour] = QStringLiteral("tp");
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  tools_ = makeTools();
  layout->addWidget(tools_);
  layout->addSpacing(6);
  scatter_ = new ScatterCanvas(this);
  scatter_->installEventFilter(this);
  layout->addWidget(scatter_, 1);
  layout->addSpacing(6);
  filters_ = new FilterStrips(this);
  layout->addWidget(filters_);
  layout->addSpacing(4);
  layout->addWidget(makeCaption());
  layout->addSpacing(4);
  table_ = new ChartTable(this);
  table_->setAccessibleName(tr("Table: the best designs"));
  table_->setSelectionMode(QAbstractItemView::SingleSelection);
  table_->installEventFilter(this);
  table_->setMouseTracking(true);
  table_->viewport()->installEventFilter(this);
  connect(table_, &QTableView::entered, this, [this](const QModelIndex& index) {
    scatter_->setHovered(model_->designAt(table_->sorted()->mapToSource(index).row()));
  });
  copy_command_ = new QAction(tr("Copy as command line"), this);
  copy_command_->setObjectName(QStringLiteral("copy_command"));
  connect(copy_command_, &QAction::triggered, this, [this] {
    if (rows_ && selected_row_ >= 0) copyCommandLine(rows_->design(selected_row_), this);
  });
  table_->addAction(copy_command_);
  scatter_->addAction(copy_command_);
  scatter_->setContextMenuPolicy(Qt::ActionsContextMenu);
  model_ = new DesignsModel(this);
  table_->setTable(model_);
  layout->addWidget(table_);

  connect(scatter_, &ScatterCanvas::rowSelected, this, &DesignsPage::selectDesign);
  connect(scatter_, &ScatterCanvas::makeCurrentRequested, this, &DesignsPage::makeCurrentRequested);
  connect(filters_, &FilterStrips::changed, this, &DesignsPage::filter);
  connect(table_, &ChartTable::rowSelected, this, [this](int row) { selectDesign(model_->designAt(row)); });
  connect(table_, &QTableView::doubleClicked, this, [this](const QModelIndex& index) {
    if (const int row = model_->designAt(table_->sorted()->mapToSource(index).row()); row >= 0)
      Q_EMIT makeCurrentRequested(row);
  });
  const auto restyle = [this] { kept_->setInk(Theme::instance().colors().secondary); };
  connect(&Theme::instance(), &Theme::changed, this, restyle);
  restyle();
  setRows(nullptr, false);
}

QWidget* DesignsPage::makeTools() {
  auto* tools = new QWidget(this);
  auto* row = new QHBoxLayout(tools);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(6);
  const QString names[] = {tr("Across"), tr("Up"), tr("Colour"), tr("Shape")};
  const char* ids[] = {"scatter_x", "scatter_y", "scatter_colour", "scatter_shape"};
  for (int i = 0; i < 4; ++i) {
    auto* label = new QLabel(names[i], tools);
    label->setProperty("role", "small");
    row->addWidget(label);
    boxes_[i] = new QComboBox(tools);
    boxes_[i]->setObjectName(QString::fromLatin1(ids[i]));
    boxes_[i]->setAccessibleName(names[i]);
    boxes_[i]->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    boxes_[i]->setMinimumContentsLength(3);
    boxes_[i]->setMaximumWidth(220);
    boxes_[i]->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    connect(boxes_[i], &QComboBox::activated, this, [this, i] {
      chosen_[i] = boxes_[i]->currentData().toString();
      fitBoxes();
      applyAxes();
      Q_EMIT axesChanged();
    });
    row->addWidget(boxes_[i], 1);
  }
  row->addStretch(1);
  return tools;
}

QWidget* DesignsPage::makeCaption() {
  auto* caption = new QWidget(this);
  auto* row = new QHBoxLayout(caption);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(6);
  kept_ = new ElidedLabel(caption, Theme::instance().uiFont(12));
  selection_text_ = new ElidedLabel(caption, Theme::instance().uiFont(12, QFont::DemiBold));
  const auto add = [&](const QString& text, const QString& name, const QString& tip) {
    auto* button = new QPushButton(text, caption);
    button->setObjectName(name);
    button->setToolTip(tip);
    row->addWidget(button);
    return button;
  };
  row->addWidget(kept_, 1);
  row->addWidget(selection_text_, 1);
  clear_ = add(tr("Clear filters"), QStringLiteral("clear_filters"), tr("Removes all filters"));
  clear_->setProperty("link", true);
  columns_ = add(tr("Columns"), QStringLiteral("choose_columns"), tr("Choose the columns of the table"));
  columns_->setProperty("link", true);
  columns_menu_ = new QMenu(columns_);
  connect(columns_menu_, &QMenu::aboutToShow, this, &DesignsPage::fillColumnsMenu);
  connect(columns_, &QPushButton::clicked, this,
          [this] { columns_menu_->popup(columns_->mapToGlobal(QPoint(0, columns_->height()))); });
  connect(clear_, &QPushButton::clicked, filters_, &FilterStrips::openAll);
  compare_ = add(tr("Compare"), QStringLiteral("compare_design"), {});
  make_current_ = add(tr("Make current"), QStringLiteral("take_design"), {});
  connect(compare_, &QPushButton::clicked, this, [this] {
    if (selected_row_ >= 0) Q_EMIT compareRequested(selected_row_);
  });
  connect(make_current_, &QPushButton::clicked, this, [this] {
    if (selected_row_ >= 0) Q_EMIT makeCurrentRequested(selected_row_);
  });
  return caption;
}

void DesignsPage::setRows(std::shared_ptr<const ExploreRows> rows, bool same_search) {
  const Wide before = same_search && rows_ && selected_row_ >= 0 ? rows_->index(selected_row_) : -1;
  rows_ = std::move(rows);
  selected_row_ = rows_ && before >= 0 ? rows_->rowOf(before) : -1;
  fillBoxes();
  const bool shown = rows_ && rows_->rows() > 0;
  for (QWidget* widget : {tools_, static_cast<QWidget*>(filters_), static_cast<QWidget*>(table_),
                          static_cast<QWidget*>(columns_)})
    widget->setVisible(shown);
  filters_->setRows(shown ? rows_ : nullptr);
  ScatterCanvas::Columns columns;
  if (shown)
    columns = {rows_->column(chosen_[X]), rows_->column(chosen_[Y]), rows_->column(chosen_[Colour]),
               rows_->column(chosen_[Shape])};
  scatter_->setRows(shown ? rows_ : nullptr, columns, same_search);
  filter();
  showMarked();
  fitHeights();
}

// Fills the boxes with the columns of the search. If the search lacks a chosen column, a default column
// replaces it.
void DesignsPage::fillBoxes() {
  for (int i = 0; i < 4; ++i) {
    QComboBox* box = boxes_[i];
    const QSignalBlocker quiet(box);
    box->clear();
    if (i >= Colour) box->addItem(tr("None"), QString());
    if (!rows_) continue;
    for (const bool axes : {false, true}) {
      for (const ValueColumn& column : rows_->columns())
        if (column.axis() == axes) box->addItem(column.label, column.id);
      if (!axes) box->insertSeparator(box->count());
    }
    if (i == Colour && box->findData(chosen_[i]) < 0)
      for (const ValueColumn& column : rows_->columns())
        if (column.axis()) {
          chosen_[i] = column.id;
          break;
        }
    if (i < Colour && box->findData(chosen_[i]) < 0)
      chosen_[i] = i == X ? QStringLiteral("memory") : QStringLiteral("step_time");
    if (const int at = box->findData(chosen_[i]); at >= 0)
      box->setCurrentIndex(at);
    else if (i >= Colour)
      box->setCurrentIndex(0);
  }
  fitBoxes();
}

// Boxes with long texts get more width.
void DesignsPage::fitBoxes() {
  auto* row = static_cast<QHBoxLayout*>(tools_->layout());
  for (QComboBox* box : boxes_)
    row->setStretch(row->indexOf(box),
                    std::max(1, box->fontMetrics().horizontalAdvance(box->currentText()) + 44));
}

void DesignsPage::applyAxes() {
  if (!rows_) return;
  const int before = selected_row_;
  scatter_->setRows(rows_,
                    {rows_->column(chosen_[X]), rows_->column(chosen_[Y]), rows_->column(chosen_[Colour]),
                     rows_->column(chosen_[Shape])},
                    false);
  selected_row_ = before;
  filter();
  showMarked();
}

void DesignsPage::filter() {
  const std::vector<char> passing = filters_->passing();
  scatter_->setPassing(passing);
  if (selected_row_ >= 0 && !passing.empty() && !passing[static_cast<size_t>(selected_row_)])
    selected_row_ = -1;
  fillTable();
  clear_->setVisible(filters_->filtering());
  if (!rows_ || rows_->result().counts.enumerated == 0) {
    kept_->setText({});
    kept_->setShort({});
  } else {
    const SearchResult& result = rows_->result();
    QString text = filters_->filtering()
                       ? tr("%1 of %2 kept designs pass")
                             .arg(grouped_text(filters_->passed()), grouped_text(rows_->rows()))
                       : tr("%1 designs kept").arg(grouped_text(rows_->rows()));
    text += static_cast<int64_t>(rows_->rows()) >= result.counts.timed
                ? tr(": all timed designs")
                : tr(" of %1 timed: the front, the best %2, the best of each value, and a random sample")
                      .arg(grouped_text(result.counts.timed),
                           grouped_text(static_cast<Wide>(result.best.size())));
    if (filters_->passed() > DesignsModel::kMost)
      text += tr(" · the best %1 in the table").arg(DesignsModel::kMost);
    kept_->setText(text);
    kept_->setShort(
        filters_->filtering()
            ? tr("%1 of %2 designs pass").arg(grouped_text(filters_->passed()), grouped_text(rows_->rows()))
            : tr("%1 of %2 timed designs kept")
                  .arg(grouped_text(rows_->rows()),
                       grouped_text(std::max<Wide>(rows_->rows(), result.counts.timed))));
  }
  showSelectedDesign();
}

void DesignsPage::fillTable() {
  rows_ ? model_->setDesigns(*rows_, filters_->passing(), units_) : model_->clear();
  leaveOutColumns();
}

void DesignsPage::leaveOutColumns() {
  QList<int> out;
  if (rows_)
    for (int c = 0; c < static_cast<int>(rows_->columns().size()); ++c) {
      const QString& id = rows_->column(c).id;
      const bool rare = std::any_of(std::begin(kRarelyWanted), std::end(kRarelyWanted),
                                    [&](const char* of) { return id == QLatin1String(of); });
      if (hidden_.contains(id) || (rare && !chosen_columns_.contains(id))) out << model_->tableColumnOf(c);
    }
  table_->leaveOut(out);
}

void DesignsPage::fillColumnsMenu() {
  columns_menu_->clear();
  if (!rows_) return;
  for (int c = 0; c < static_cast<int>(rows_->columns().size()); ++c) {
    const ValueColumn& column = rows_->column(c);
    QAction* action = columns_menu_->addAction(column.label);
    action->setObjectName(QStringLiteral("column_") + column.id);
    action->setCheckable(true);
    action->setChecked(!table_->isColumnHidden(model_->tableColumnOf(c)));
    connect(action, &QAction::toggled, this, [this, id = column.id](bool on) {
      on ? hidden_.remove(id) : static_cast<bool>((hidden_.insert(id), true));
      if (on) chosen_columns_.insert(id);
      leaveOutColumns();
    });
  }
}

void DesignsPage::selectDesign(int row) {
  selected_row_ = row;
  showSelectedDesign();
}

void DesignsPage::showSelectedDesign() {
  if (scatter_->selected() != selected_row_) {
    scatter_->setSelected(selected_row_);
    scatter_->reveal(selected_row_);
  }
  table_->showRow(selected_row_ >= 0 ? model_->tableRowOf(selected_row_) : -1);
  const bool any = rows_ && selected_row_ >= 0;
  selection_text_->setText(any ? rows_->figures(selected_row_, units_) + QStringLiteral(" · ") +
                                     rows_->name(selected_row_)
                               : QString());
  for (QPushButton* button : {compare_, make_current_}) {
    button->setVisible(rows_ && rows_->rows() > 0);
    button->setEnabled(any);
  }
  copy_command_->setEnabled(any);
  selection_text_->setVisible(any);
  kept_->setVisible(!any);
  const QString tip = any ? QString() : tr(": select a design first");
  compare_->setEnabled(any && comparable_);
  compare_->setToolTip(comparable_ ? tr("Compare with the current design (C)") + tip
                                   : tr("The comparison is full: remove a pinned design first"));
  make_current_->setToolTip(
      any ? tr("Replaces the current design by this design; Undo reverts this (double click, Enter)")
          : tr("Replaces the current design") + tip);
}

void DesignsPage::setComparable(bool room) {
  comparable_ = room;
  showSelectedDesign();
}

void DesignsPage::setMarked(const std::vector<QHash<QString, double>>& figures) {
  marked_ = figures;
  showMarked();
}

void DesignsPage::showMarked() {
  std::vector<ScatterCanvas::Marked> marked;
  for (size_t member = 0; member < marked_.size(); ++member) {
    const QHash<QString, double>& of = marked_[member];
    if (of.contains(chosen_[X]) && of.contains(chosen_[Y]))
      marked.push_back({static_cast<int>(member), QPointF(of[chosen_[X]], of[chosen_[Y]])});
  }
  scatter_->setMarked(std::move(marked));
}

void DesignsPage::setUnits(UnitSystem units) {
  units_ = units;
  scatter_->setUnits(units);
  filters_->setUnits(units);
  fillTable();
  showSelectedDesign();
}

bool DesignsPage::eventFilter(QObject* watched, QEvent* event) {
  if (table_ && watched == table_->viewport()) {
    if (event->type() == QEvent::Leave) scatter_->setHovered(-1);
    return QWidget::eventFilter(watched, event);
  }
  if (event->type() == QEvent::KeyPress && selected_row_ >= 0) {
    const auto* key = static_cast<QKeyEvent*>(event);
    if (key->key() == Qt::Key_C && key->modifiers() == Qt::NoModifier && compare_->isEnabled()) {
      Q_EMIT compareRequested(selected_row_);
      return true;
    }
    if (watched == table_ && (key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter) &&
        table_->currentIndex().isValid()) {
      Q_EMIT makeCurrentRequested(selected_row_);
      return true;
    }
  }
  return QWidget::eventFilter(watched, event);
}

void DesignsPage::resizeEvent(QResizeEvent*) { fitHeights(); }

void DesignsPage::fitHeights() {
  filters_->setFlat(height() < kLowPage);
  filters_->setFixedHeight(filters_->heightFor(width()));
  const int most = std::max(
      kLeastTable, static_cast<int>(height() * (height() < kLowPage ? kLowTableShare : kTableShare)));
  table_->setFixedHeight(std::max(kLeastTable, table_->heightUpTo(most)));
}

}  // namespace shardscape::ui
