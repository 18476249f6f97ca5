#include "ui/views/explore/designs_page.h"

#include <QAction>
#include <QComboBox>
#include <QHBoxLayout>
#include <QHash>
#include <QKeyEvent>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QScopedValueRollback>
#include <QSortFilterProxyModel>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/plot/chart_table.h"
#include "ui/toolkit/copy_command.h"
#include "ui/toolkit/elided_label.h"
#include "ui/toolkit/page_splitter.h"
#include "ui/toolkit/searchable_combo.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/value_scale.h"
#include "ui/views/explore/designs_model.h"
#include "ui/views/explore/filter_strips.h"

namespace shardscape::ui {
namespace {

enum Box { X, Y, Colour, Shape };
// The largest share of the page's height for the table; the second one is for pages lower than kLowDesigns.
constexpr double kTableShare = 0.32, kLowTableShare = 0.3;
constexpr int kLeastTable = 92;   // pixels
constexpr int kLowDesigns = 620;  // pixels; on lower pages, filters and table leave room for the scatter plot
// Figures that are hidden in the table until the person shows them.
constexpr const char* kRarelyWanted[] = {"headroom", "cost", "energy", "gpus", "model_tflops"};

}  // namespace

DesignsPage::DesignsPage(QWidget* parent) : QWidget(parent) {
  axes_[X] = QStringLiteral("memory");
  axes_[Y] = QStringLiteral("step_time");
  axes_[Colour] = QStringLiteral("tp");
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  splitter_ = new PageSplitter(QStringLiteral("designs"), this);
  layout->addWidget(splitter_);
  const auto part = [this](int gap) {
    auto* made = new QWidget(splitter_);
    auto* rows = new QVBoxLayout(made);
    rows->setContentsMargins(0, 0, 0, 0);
    rows->setSpacing(gap);
    splitter_->addWidget(made);
    return rows;
  };
  QVBoxLayout *upper = part(6), *lower = part(4);
  upper_ = upper->parentWidget();
  lower_ = lower->parentWidget();
  tools_ = makeTools();
  upper->addWidget(tools_);
  scatter_ = new ScatterCanvas(this);
  scatter_->installEventFilter(this);
  upper->addWidget(scatter_, 1);
  filters_ = new FilterStrips(this);
  lower->addWidget(makeCaption());
  lower->addWidget(filters_);
  table_ = new ChartTable(this);
  table_->setAccessibleName(tr("Table: the best designs"));
  table_->installEventFilter(this);
  table_->setMouseTracking(true);
  table_->viewport()->installEventFilter(this);
  connect(table_, &QTableView::entered, this, [this](const QModelIndex& index) {
    scatter_->setHovered(model_->designAt(table_->sorted()->mapToSource(index).row()));
  });
  const auto copying = [this](const QString& words, const char* name, void (*copy)(const Design&, QWidget*)) {
    auto* action = new QAction(words, this);
    action->setObjectName(QString::fromLatin1(name));
    connect(action, &QAction::triggered, this, [this, copy] {
      if (rows_ && selected_row_ >= 0) copy(rows_->design(selected_row_), this);
    });
    table_->addAction(action);
    scatter_->addAction(action);
    return action;
  };
  copy_command_ = copying(tr("Copy as command line"), "copy_command", copyCommandLine);
  copy_json_ = copying(tr("Copy design as JSON"), "copy_json", copyDesignJson);
  scatter_->setContextMenuPolicy(Qt::ActionsContextMenu);
  model_ = new DesignsModel(this);
  table_->setTable(model_);
  lower->addWidget(table_, 1);

  connect(scatter_, &ScatterCanvas::rowSelected, this, &DesignsPage::selectDesign);
  connect(scatter_, &ScatterCanvas::makeCurrentRequested, this, &DesignsPage::makeCurrentRequested);
  connect(filters_, &FilterStrips::changed, this, &DesignsPage::filter);
  connect(scatter_, &ScatterCanvas::rowToggled, this, &DesignsPage::toggle);
  connect(scatter_, &ScatterCanvas::areaChosen, this, [this](const QRectF& values, bool add) {
    area_ = Area{axes_[X], axes_[Y], values};
    std::vector<int> rows = scatter_->rowsIn(values);
    if (add) rows.insert(rows.end(), chosen_.begin(), chosen_.end());
    choose(std::move(rows));
  });
  connect(table_->selectionModel(), &QItemSelectionModel::selectionChanged, this, &DesignsPage::followTable);
  connect(table_, &ChartTable::rowSelected, this, [this](int row) {
    if (chosen_.size() < 2) return selectDesign(model_->designAt(row));
    selected_row_ = model_->designAt(row);
    scatter_->setSelected(selected_row_);
  });
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
    boxes_[i] = new SearchableCombo(tools);
    boxes_[i]->setObjectName(QString::fromLatin1(ids[i]));
    boxes_[i]->setAccessibleName(names[i]);
    boxes_[i]->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    boxes_[i]->setMinimumContentsLength(3);
    boxes_[i]->setMaximumWidth(220);
    boxes_[i]->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    connect(boxes_[i], &QComboBox::activated, this, [this, i] {
      axes_[i] = boxes_[i]->currentData().toString();
      fitBoxes();
      applyAxes();
      Q_EMIT axesChanged();
    });
    row->addWidget(boxes_[i], 1);
  }
  draw_ = new QPushButton(tr("Select area"), tools);
  draw_->setObjectName(QStringLiteral("draw_area"));
  draw_->setCheckable(true);
  draw_->setToolTip(tr("A drag over the points selects them; without this button, Shift+drag does"));
  connect(draw_, &QPushButton::toggled, this, [this](bool on) { scatter_->setDrawing(on); });
  row->addWidget(draw_);
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
  fold_ = add(tr("Hide filters"), QStringLiteral("fold_filters"), tr("Shows or hides the filters"));
  fold_->setProperty("link", true);
  fold_->setCheckable(true);
  fold_->setChecked(true);
  connect(fold_, &QPushButton::toggled, this, [this](bool on) { foldFilters(!on); });
  clear_ = add(tr("Clear filters"), QStringLiteral("clear_filters"), tr("Removes all filters"));
  clear_->setProperty("link", true);
  columns_ = add(tr("Columns"), QStringLiteral("choose_columns"), tr("Choose the columns of the table"));
  columns_->setProperty("link", true);
  columns_menu_ = new QMenu(columns_);
  connect(columns_menu_, &QMenu::aboutToShow, this, &DesignsPage::fillColumnsMenu);
  connect(columns_, &QPushButton::clicked, this,
          [this] { columns_menu_->popup(columns_->mapToGlobal(QPoint(0, columns_->height()))); });
  connect(clear_, &QPushButton::clicked, this, [this] {
    area_.reset();
    filters_->openAll();
  });
  keep_area_ = add(tr("Only these"), QStringLiteral("keep_area"),
                   tr("Hides the designs outside the selected area, until the filters are cleared"));
  keep_area_->setProperty("link", true);
  connect(keep_area_, &QPushButton::clicked, this, &DesignsPage::keepArea);
  show_pinned_ = add({}, QStringLiteral("show_pinned"), tr("Opens the page Compare"));
  show_pinned_->setProperty("link", true);
  connect(show_pinned_, &QPushButton::clicked, this, &DesignsPage::showComparisonRequested);
  compare_ = add(tr("Compare"), QStringLiteral("compare_design"), {});
  make_current_ = add(tr("Make current"), QStringLiteral("take_design"), {});
  connect(compare_, &QPushButton::clicked, this, [this] {
    if (!chosen_.empty()) Q_EMIT compareRequested(chosen_);
  });
  connect(make_current_, &QPushButton::clicked, this, [this] {
    if (selected_row_ >= 0) Q_EMIT makeCurrentRequested(selected_row_);
  });
  return caption;
}

void DesignsPage::setRows(std::shared_ptr<const ExploreRows> rows, bool same_search) {
  const auto before = rows_;
  rows_ = std::move(rows);
  const bool same = same_search && before && rows_;
  const auto moved = [&](int row) { return same && row >= 0 ? rows_->rowOf(before->index(row)) : -1; };
  selected_row_ = moved(selected_row_);
  std::transform(chosen_.begin(), chosen_.end(), chosen_.begin(), moved);
  std::erase(chosen_, -1);
  if (!same) area_.reset();
  // A search by goodput shows the goodput.
  if (rows_ && rows_->goodput() && !(before && before->goodput())) axes_[Y] = QStringLiteral("goodput");
  fillBoxes();
  const bool shown = rows_ && rows_->rows() > 0;
  for (QWidget* widget :
       {tools_, static_cast<QWidget*>(table_), static_cast<QWidget*>(columns_), static_cast<QWidget*>(fold_)})
    widget->setVisible(shown);
  filters_->setVisible(shown && fold_->isChecked());
  lower_->setVisible(rows_ && rows_->result().counts.enumerated > 0);
  filters_->setRows(shown ? rows_ : nullptr);
  ScatterCanvas::Columns columns;
  if (shown)
    columns = {rows_->column(axes_[X]), rows_->column(axes_[Y]), rows_->column(axes_[Colour]),
               rows_->column(axes_[Shape])};
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
    if (i == Colour && box->findData(axes_[i]) < 0)
      for (const ValueColumn& column : rows_->columns())
        if (column.axis()) {
          axes_[i] = column.id;
          break;
        }
    if (i < Colour && box->findData(axes_[i]) < 0)
      axes_[i] = i == X ? QStringLiteral("memory") : QStringLiteral("step_time");
    if (const int at = box->findData(axes_[i]); at >= 0)
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
                    {rows_->column(axes_[X]), rows_->column(axes_[Y]), rows_->column(axes_[Colour]),
                     rows_->column(axes_[Shape])},
                    false);
  selected_row_ = before;
  if (area_ && !area_->only) area_.reset();  // it belongs to the axes before
  filter();
  showMarked();
}

std::vector<char> DesignsPage::passing() const {
  std::vector<char> out = filters_->passing();
  const int x = area_ && rows_ ? rows_->column(area_->x) : -1, y = x >= 0 ? rows_->column(area_->y) : -1;
  if (x < 0 || y < 0 || !area_->only) return out;
  out.resize(static_cast<size_t>(rows_->rows()), 1);
  const QRectF& in = area_->values;
  for (int row = 0; row < rows_->rows(); ++row) {
    const double at_x = rows_->value(row, x), at_y = rows_->value(row, y);
    if (!(at_x >= in.left() && at_x <= in.right() && at_y >= in.top() && at_y <= in.bottom()))
      out[static_cast<size_t>(row)] = 0;
  }
  return out;
}

void DesignsPage::keepArea() {
  if (!area_) return;
  area_->only = true;
  filter();
}

void DesignsPage::filter() {
  const std::vector<char> passing = this->passing();
  scatter_->setPassing(passing);
  const auto hidden = [&](int row) { return !passing.empty() && !passing[static_cast<size_t>(row)]; };
  if (selected_row_ >= 0 && hidden(selected_row_)) selected_row_ = -1;
  std::erase_if(chosen_, hidden);
  const bool filtering = !passing.empty();
  const auto passed = filtering ? std::count(passing.begin(), passing.end(), 1)
                                : static_cast<std::ptrdiff_t>(rows_ ? rows_->rows() : 0);
  fillTable();
  clear_->setVisible(filtering);
  if (!rows_ || rows_->result().counts.enumerated == 0) {
    kept_->setText({});
    kept_->setShort({});
  } else {
    const SearchResult& result = rows_->result();
    QString text = filtering ? tr("%1 of %2 kept designs pass")
                                   .arg(grouped_text(passed), grouped_text(rows_->rows()))
                             : tr("%1 designs kept").arg(grouped_text(rows_->rows()));
    text += static_cast<int64_t>(rows_->rows()) >= result.counts.timed
                ? tr(": all timed designs")
                : tr(" of %1 timed: the front, the best %2, the best of each value, and a random sample")
                      .arg(grouped_text(result.counts.timed),
                           grouped_text(static_cast<Wide>(result.best.size())));
    if (passed > DesignsModel::kMost) text += tr(" · the best %1 in the table").arg(DesignsModel::kMost);
    kept_->setText(text);
    kept_->setShort(filtering
                        ? tr("%1 of %2 designs pass").arg(grouped_text(passed), grouped_text(rows_->rows()))
                        : tr("%1 of %2 timed designs kept")
                              .arg(grouped_text(rows_->rows()),
                                   grouped_text(std::max<Wide>(rows_->rows(), result.counts.timed))));
  }
  showSelectedDesign();
}

void DesignsPage::fillTable() {
  const QScopedValueRollback<bool> filling(filling_, true);
  rows_ ? model_->setDesigns(*rows_, passing(), units_) : model_->clear();
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
  chosen_.clear();
  if (row >= 0) chosen_.push_back(row);
  showSelectedDesign();
}

void DesignsPage::choose(std::vector<int> rows) {
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  chosen_ = std::move(rows);
  if (std::find(chosen_.begin(), chosen_.end(), selected_row_) == chosen_.end())
    selected_row_ = chosen_.empty() ? -1 : chosen_.front();
  showSelectedDesign();
}

void DesignsPage::toggle(int row) {
  std::vector<int> rows = chosen_;
  if (std::erase(rows, row) == 0) rows.push_back(row);
  choose(std::move(rows));
}

// The person selects rows by Ctrl, Shift or keys.
void DesignsPage::followTable() {
  if (filling_) return;
  std::vector<int> rows;
  for (const int row : table_->selectedSourceRows()) rows.push_back(model_->designAt(row));
  const QScopedValueRollback<bool> leads(table_leads_, true);
  if (const QModelIndex now = table_->currentIndex(); now.isValid())
    selected_row_ = model_->designAt(table_->sorted()->mapToSource(now).row());
  choose(std::move(rows));
}

void DesignsPage::showSelectedDesign() {
  if (scatter_->selected() != selected_row_) {
    scatter_->setSelected(selected_row_);
    scatter_->reveal(selected_row_);
  }
  scatter_->setChosen(chosen_);
  if (!table_leads_) {
    const QScopedValueRollback<bool> filling(filling_, true);
    std::vector<int> also;
    if (chosen_.size() > 1)
      for (const int row : chosen_)
        if (const int at = model_->tableRowOf(row); at >= 0) also.push_back(at);
    table_->showRow(selected_row_ >= 0 ? model_->tableRowOf(selected_row_) : -1, also);
  }
  showActions();
}

void DesignsPage::showActions() {
  const bool any = rows_ && selected_row_ >= 0;
  const auto count = static_cast<int>(chosen_.size());
  selection_text_->setText(count > 1 ? tr("%1 designs selected").arg(grouped_text(count))
                           : any     ? rows_->figures(selected_row_, units_) + QStringLiteral(" · ") +
                                       rows_->name(selected_row_)
                                 : QString());
  for (QPushButton* button : {compare_, make_current_}) {
    button->setVisible(rows_ && rows_->rows() > 0);
    button->setEnabled(any);
  }
  for (QAction* action : {copy_command_, copy_json_}) action->setEnabled(any);
  selection_text_->setVisible(any);
  kept_->setVisible(!any);
  keep_area_->setVisible(any && area_ && !area_->only);
  show_pinned_->setVisible(rows_ && pinned_ > 0);
  show_pinned_->setText(tr("%1 pinned, show").arg(pinned_));
  const QString tip = any ? QString() : tr(": select a design first");
  compare_->setText(count > 1 ? tr("Compare %1").arg(std::min(count, std::max(1, room_))) : tr("Compare"));
  compare_->setEnabled(any && room_ > 0);
  compare_->setToolTip(room_ == 0 ? tr("The comparison is full: remove a pinned design first")
                       : count <= room_
                           ? tr("Pins the selected designs, next to the current design (C)") + tip
                           : tr("Pins the best %1 of the selected designs (C)").arg(room_));
  make_current_->setEnabled(any && count < 2);
  make_current_->setToolTip(
      any ? tr("Replaces the current design by this design; Undo reverts this (double click, Enter)")
          : tr("Replaces the current design") + tip);
}

void DesignsPage::setComparable(int room, int pinned) {
  room_ = room;
  pinned_ = pinned;
  showActions();
}

void DesignsPage::setMarked(const std::vector<QHash<QString, double>>& figures) {
  marked_ = figures;
  showMarked();
}

void DesignsPage::showMarked() {
  std::vector<ScatterCanvas::Marked> marked;
  for (size_t member = 0; member < marked_.size(); ++member) {
    const QHash<QString, double>& of = marked_[member];
    if (of.contains(axes_[X]) && of.contains(axes_[Y]))
      marked.push_back({static_cast<int>(member), QPointF(of[axes_[X]], of[axes_[Y]])});
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
      Q_EMIT compareRequested(chosen_);
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
  filters_->setFlat(height() < kLowDesigns);
  filters_->setFixedHeight(filters_->heightFor(width()));
  const bool shown = rows_ && rows_->rows() > 0;
  const int most = std::max(
      kLeastTable, static_cast<int>(height() * (height() < kLowDesigns ? kLowTableShare : kTableShare)));
  const int table = shown ? std::max(kLeastTable, table_->heightUpTo(most)) : 0;
  const auto* lower = static_cast<QVBoxLayout*>(lower_->layout());
  const int filters = filters_->isHidden() ? 0 : filters_->height() + lower->spacing();
  splitter_->suggest({0, lower->itemAt(0)->sizeHint().height() + filters + lower->spacing() + table});
}

void DesignsPage::foldFilters(bool folded) {
  fold_->setText(folded ? tr("Show filters") : tr("Hide filters"));
  filters_->setVisible(!folded && rows_ && rows_->rows() > 0);
  fitHeights();
}

}  // namespace shardscape::ui
