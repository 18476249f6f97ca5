#include "ui/views/explore/compare_page.h"

#include <QApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QScrollArea>
#include <QShowEvent>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "memory/estimate.h"
#include "ui/inspector/memory_inspection.h"
#include "ui/inspector/step_inspection.h"
#include "ui/plot/chart_table.h"
#include "ui/plot/missing_cost_line.h"
#include "ui/selection/selection_state.h"
#include "ui/session/comparisons.h"
#include "ui/session/session.h"
#include "ui/toolkit/band_tip.h"
#include "ui/toolkit/display_text.h"
#include "ui/toolkit/elided_label.h"
#include "ui/toolkit/file_slug.h"
#include "ui/toolkit/page_splitter.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/value_scale.h"
#include "ui/views/explore/grouped_bars.h"

namespace shardscape::ui {
namespace {

// The largest shares of the page's height for the table of knobs (also on a low page) and for the bars.
constexpr double kKnobsShare = 0.24, kLowKnobsShare = 0.18, kBarsShare = 0.42;
constexpr int kLeastKnobs = 60, kLeastBars = 120, kMemberHeight = 24, kSwatch = 10, kLowPage = 640;

TableCell figure_cell(FigureKind kind, double value, UnitSystem units) {
  TableCell cell = text_cell(figure_text(kind, value, units),
                             std::isnan(value) ? QString() : QString::number(value, 'g', 12));
  cell.sort = std::isnan(value) ? QVariant() : QVariant(value);
  return cell;
}

// How to set the price or the power that an unknown cost needs.
QString missing_figure_tip(const ComparedFigure& figure, const Design& design) {
  if (figure.group != FigureGroup::Cost) return {};
  if (figure.id.starts_with("usd")) return missingCostTip(design.cluster, "price_per_hour");
  return figure.id.starts_with("kwh") || figure.id == "mwh" ? missingCostTip(design.cluster, "board_power")
                                                            : QString();
}

// "8.41 s to 10.3 s"
QString band_range_text(const ComparedFigure& figure, size_t member, UnitSystem units) {
  return ComparePage::tr("%1 to %2")
      .arg(figure_text(figure.kind, figure.bands[member].first, units),
           figure_text(figure.kind, figure.bands[member].second, units));
}

// Colours the difference and its percentage, and marks the difference with a sign.
// ratio: judged_ratio() of the figure.
void judge(Verdict verdict, const QString& ratio, TableCell& difference, TableCell& percent) {
  if (verdict == Verdict::None) return;
  if (verdict == Verdict::Tie) {
    difference.text = ComparePage::tr("tie, %1").arg(difference.text);
    for (TableCell* cell : {&difference, &percent})
      cell->tip = ratio.isEmpty() ? ComparePage::tr("A tie: the 80 % bands of both designs overlap")
                                  : ComparePage::tr("A tie: %1").arg(ratio);
    return;
  }
  const bool better = verdict == Verdict::Better;
  difference.text.prepend(better ? QStringLiteral("✓ ") : QStringLiteral("✗ "));
  for (TableCell* cell : {&difference, &percent}) {
    cell->good = better;
    cell->alarm = !better;
    cell->tip = better ? ComparePage::tr("The current design is better than the pinned design")
                       : ComparePage::tr("The current design is worse than the pinned design");
    if (!ratio.isEmpty()) cell->tip += QStringLiteral(": ") + ratio;
  }
}

// Parts of step time and of memory can have equal names.
QString prefix_of(const ComparedFigure& figure) {
  switch (figure.group) {
    case FigureGroup::StepParts: return ComparePage::tr("Step: ");
    case FigureGroup::Memory: return ComparePage::tr("Memory: ");
    case FigureGroup::Size:
    case FigureGroup::Time:
    case FigureGroup::Cost:
    case FigureGroup::Collectives: return {};
  }
  return {};
}

// A square in the design's colour with its letter.
class Badge : public QWidget {
 public:
  Badge(int member, QWidget* parent) : QWidget(parent), member_(member) { setFixedSize(34, kMemberHeight); }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(Theme::instance().designColor(member_));
    painter.drawRoundedRect(QRectF(0, (height() - kSwatch) / 2.0, kSwatch, kSwatch), 2, 2);
    painter.setFont(Theme::instance().uiFont(13, QFont::DemiBold));
    painter.setPen(Theme::instance().colors().text);
    painter.drawText(rect().adjusted(kSwatch + 6, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter,
                     Comparisons::letter(member_));
  }

 private:
  int member_;
};

}  // namespace

void DifferingKnobsModel::setKnobs(const std::vector<ComparedKnob>& knobs, int designs) {
  Rows rows;
  for (const ComparedKnob& knob : knobs) {
    std::vector<TableCell>& row = rows.emplace_back();
    row.push_back(text_cell(text_of(knob.knob->label), text_of(knob.knob->id)));
    for (int place = 0; place < designs; ++place) {
      const std::string& value = knob.values[static_cast<size_t>(Comparisons::place(place))];
      row.push_back(text_cell(displayText(*knob.knob, text_of(value)), text_of(value)));
      row.back().strong = value != knob.values[1];  // the baseline's
    }
  }
  std::vector<TableColumn> columns{{tr("Settings that differ"), QStringLiteral("knob"), false, {}}};
  for (int place = 0; place < designs; ++place) {
    const QString letter = Comparisons::letter(Comparisons::place(place));
    columns.push_back({letter, letter, true, {}});
  }
  assign(std::move(columns), std::move(rows));
}

void ComparisonModel::setFigures(const std::vector<ComparedFigure>& figures,
                                 const std::vector<Design>& designs, UnitSystem units) {
  Rows rows;
  for (const ComparedFigure& figure : figures) {
    std::vector<TableCell>& row = rows.emplace_back();
    row.push_back(text_cell(group_text(figure.group)));
    TableCell name = text_cell(prefix_of(figure) + text_of(figure.label), text_of(figure.id));
    name.tip = group_text(figure.group) + QStringLiteral(": ") + text_of(figure.label);
    row.push_back(std::move(name));
    const auto value_cell = [&](size_t member) {
      TableCell cell = figure_cell(figure.kind, figure.values[member], units);
      if (std::isnan(figure.values[member])) cell.tip = missing_figure_tip(figure, designs[member]);
      if (!figure.band(member).empty()) {
        if (figure.id == "step_seconds" || figure.id == "memory")
          cell.text += QStringLiteral(" (%1)").arg(band_range_text(figure, member, units));
        const DesignBands bands = design_bands(designs[member]);
        const auto& of = figure.id == "memory" ? bands.memory : bands.time;
        cell.tip = bandTip(band_range_text(figure, member, units), *of);
      }
      return cell;
    };
    row.push_back(value_cell(1));
    row.push_back(value_cell(0));
    for (size_t member = 1; member < figure.values.size(); ++member) {
      const double by = figure.change(0, member), base = figure.values[member];
      TableCell difference = figure_cell(figure.kind, by, units);
      if (by > 0) difference.text.prepend(u'+');
      if (by == 0 || figure.kind == FigureKind::Share)
        difference.text = text_of(figure.difference(0, member));  // percentage points, not percent of percent
      TableCell percent = text_cell(text_of(figure.percent(0, member)));
      percent.sort = base != 0 && !std::isnan(by) ? QVariant(by / base) : QVariant();
      percent.raw = percent.sort.isNull() ? QString() : QString::number(100 * by / base, 'g', 12);
      if (member > 1) row.push_back(value_cell(member));
      judge(figure.verdict(0, member), text_of(figure.judged_ratio(0, member)), difference, percent);
      row.push_back(std::move(difference));
      row.push_back(std::move(percent));
    }
  }
  std::vector<TableColumn> columns{
      {tr("Group"), QStringLiteral("group"), false, {}},
      {tr("Figure"), QStringLiteral("figure"), false, {}},
      {tr("A\npinned"), QStringLiteral("A"), true, tr("The first pinned design, the baseline")},
      {tr("B\ncurrent"), QStringLiteral("B"), true, tr("The current design")}};
  for (int member = 1; member < static_cast<int>(designs.size()); ++member) {
    const QString letter = Comparisons::letter(member), raw = QStringLiteral("B less ") + letter;
    if (member > 1) columns.push_back({tr("%1\npinned").arg(letter), letter, true, {}});
    columns.push_back({tr("B − %1\ncurrent − pinned").arg(letter), raw, true,
                       tr("The current design minus the pinned design %1. ✓: the current design is better, "
                          "✗: it is worse, tie: the 80 % band of the ratio contains 1, or the bands of "
                          "designs of different workloads overlap")
                           .arg(letter)});
    columns.push_back({tr("%"), raw + QStringLiteral(" (%)"), true,
                       tr("The difference in percent of the pinned design %1").arg(letter)});
  }
  assign(std::move(columns), std::move(rows));
}

ComparePage::ComparePage(SelectionState* state, QWidget* parent)
    : QWidget(parent), state_(state), session_(state->session()), comparisons_(session_->comparisons()) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  message_ = makeMessage();
  layout->addWidget(message_, 1);
  body_ = new QWidget(this);
  layout->addWidget(body_, 1);
  auto* rows = new QVBoxLayout(body_);
  rows->setContentsMargins(0, 0, 0, 0);
  rows->setSpacing(8);
  members_ = new QVBoxLayout;
  members_->setSpacing(2);
  rows->addLayout(members_);
  splitter_ = new PageSplitter(QStringLiteral("compare"), body_);
  rows->addWidget(splitter_, 1);
  knobs_ = new ChartTable(splitter_);
  knobs_->setAccessibleName(tr("Table: settings that differ"));
  knobs_model_ = new DifferingKnobsModel(this);
  knobs_->setTable(knobs_model_);
  splitter_->addWidget(knobs_);
  scroll_ = new QScrollArea(splitter_);
  scroll_->setWidgetResizable(true);
  scroll_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll_->viewport()->setAutoFillBackground(false);
  bars_ = new GroupedBars;
  scroll_->setWidget(bars_);
  bars_->setAutoFillBackground(false);
  splitter_->addWidget(scroll_);
  table_ = new ChartTable(splitter_);
  table_->setAccessibleName(tr("Table: all numbers of the designs"));
  model_ = new ComparisonModel(this);
  table_->setTable(model_, {ComparisonModel::Group});
  splitter_->addWidget(table_);
  connect(comparisons_, &Comparisons::changed, this, &ComparePage::refresh);
  connect(session_, &Session::designChanged, this, &ComparePage::refresh);
  connect(session_, &Session::estimateChanged, this, &ComparePage::refresh);
  connect(session_, &Session::unitsChanged, this, &ComparePage::refresh);
  connect(state_, &SelectionState::selectionChanged, this, &ComparePage::followSelection);
  connect(bars_, &GroupedBars::figureSelected, this, &ComparePage::selectFigure);
  connect(bars_, &GroupedBars::cleared, this, [this] {
    state_->selectInAllViews({}, this);
    markSelected();
    explain();
  });
  connect(table_, &ChartTable::rowSelected, this, &ComparePage::selectFigure);
  refresh();
}

QPushButton* ComparePage::button(const QString& text, const QString& name, const QString& tip,
                                 QWidget* parent) {
  auto* made = new QPushButton(text, parent);
  made->setObjectName(name);
  made->setToolTip(tip);
  return made;
}

QWidget* ComparePage::makeMessage() {
  auto* page = new QWidget(this);
  auto* rows = new QVBoxLayout(page);
  rows->addStretch(1);
  auto* words = new QLabel(
      tr("This page compares up to four designs with the current design. Pin the current design and edit on, "
         "select a design of a search and press \"Compare\", or add a design from a file. Differences are "
         "the current design minus a pinned design."),
      page);
  words->setProperty("role", "secondary");
  words->setAlignment(Qt::AlignCenter);
  words->setWordWrap(true);
  words->setFixedWidth(520);
  auto* middle = new QHBoxLayout;  // a layout supports height-for-width, an alignment does not
  middle->addStretch(1);
  middle->addWidget(words);
  middle->addStretch(1);
  rows->addLayout(middle);
  rows->addSpacing(10);
  auto* line = new QHBoxLayout;
  line->addStretch(1);
  auto* pin = button(tr("Pin the current design"), QStringLiteral("pin_present"),
                     tr("Keeps a copy of the design while you edit (Ctrl+D)"), page);
  auto* file = button(tr("Compare with a file..."), QStringLiteral("compare_file"), {}, page);
  connect(pin, &QPushButton::clicked, this, &ComparePage::pinRequested);
  connect(file, &QPushButton::clicked, this, &ComparePage::fileRequested);
  line->addWidget(pin);
  line->addWidget(file);
  line->addStretch(1);
  rows->addLayout(line);
  rows->addStretch(1);
  return page;
}

// "9.29 s · 77.1 GiB · MFU 25.2 %", or the reason why there are no figures.
QString ComparePage::stateOf(int member) const {
  const std::shared_ptr<const Estimate> now = session_->estimate();
  ComparedDesign of;
  if (member == 0 && now)
    of = {now->report, now->simulation};
  else if (member > 0)
    of = comparisons_->all()[static_cast<size_t>(member - 1)].result;
  if (member > 0 && !comparisons_->all()[static_cast<size_t>(member - 1)].computed) return tr("computing…");
  if (!of.simulation) {
    const bool why = of.report && !of.report->problems.empty();
    return why ? tr("cannot run: %1").arg(text_of(of.report->problems.front().what)) : tr("no step");
  }
  const MemoryTimeline& memory = *of.report->memory;
  QStringList parts{text_of(format_seconds(of.simulation->step_seconds)),
                    bytes_text(memory_in_use(*of.report, memory.peak_stage), session_->units()),
                    tr("MFU %1").arg(percent_text(of.simulation->mfu))};
  if (!memory.fits) parts << tr("does not fit");
  return parts.join(QStringLiteral(" · "));
}

std::vector<Design> ComparePage::designs() const {
  std::vector<Design> out{session_->design()};
  for (const PinnedDesign& pinned : comparisons_->all()) out.push_back(pinned.design);
  return out;
}

// A line for each design. All lines are rebuilt on every change.
void ComparePage::fillMembers() {
  const QWidget* focused = QApplication::focusWidget();
  const bool inside = focused && body_->isAncestorOf(focused) &&
                      focused->parentWidget()->objectName().startsWith(QStringLiteral("member_"));
  const QString line_before = inside ? focused->parentWidget()->objectName() : QString(),
                name_before = inside ? focused->objectName() : QString();
  while (QLayoutItem* item = members_->takeAt(0)) {
    // deleteLater(), because a button may still be handling its click.
    item->widget()->hide();
    item->widget()->deleteLater();
    delete item;
  }
  const QStringList names_apart = comparisons_->distinguishingNames(session_->design());
  for (int place = 0; place <= comparisons_->size(); ++place) {
    const int member = Comparisons::place(place);
    auto* line = new QWidget(body_);
    line->setObjectName(QStringLiteral("member_") + Comparisons::letter(member));
    line->setFixedHeight(kMemberHeight);
    auto* row = new QHBoxLayout(line);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(8);
    row->addWidget(new Badge(member, line));
    auto* name = new ElidedLabel(line,
                                 Theme::instance().uiFont(13, member == 0 ? QFont::DemiBold : QFont::Normal));
    const QString all = member == 0 ? Comparisons::nameOf(session_->design())
                                    : comparisons_->all()[static_cast<size_t>(member - 1)].name;
    const QString& apart = names_apart[member];
    name->setText(member == 0       ? tr("current: %1").arg(apart.isEmpty() ? all : apart)
                  : apart.isEmpty() ? all
                                    : apart);
    line->setToolTip(all);
    row->addWidget(name, 1);
    auto* state = new QLabel(stateOf(member), line);
    state->setProperty("role", "small");
    state->setMaximumWidth(320);
    row->addWidget(state);
    const auto link = [&](const QString& words, const QString& id, const QString& tip) {
      auto* made = button(words, id, tip, line);
      made->setProperty("link", true);
      made->setAccessibleName(tr("%1: %2").arg(words, Comparisons::letter(member)));
      row->addWidget(made);
      return made;
    };
    if (member == 0) {
      auto* pin = link(tr("Pin"), QStringLiteral("pin_now"),
                       tr("Keeps a copy of the design while you edit (Ctrl+D)"));
      pin->setEnabled(!comparisons_->full() && comparisons_->find(session_->design()) < 0);
      auto* file = link(tr("Add a file"), QStringLiteral("add_file"), tr("Compare with a saved design"));
      file->setEnabled(!comparisons_->full());
      connect(pin, &QPushButton::clicked, this, &ComparePage::pinRequested, Qt::QueuedConnection);
      connect(file, &QPushButton::clicked, this, &ComparePage::fileRequested, Qt::QueuedConnection);
    } else {
      auto* take = link(tr("Make current"), QStringLiteral("take_compared"),
                        tr("Replaces the current design; Undo reverts this"));
      auto* drop = link(tr("Remove"), QStringLiteral("drop_compared"), {});
      connect(
          take, &QPushButton::clicked, this,
          [this, member] {
            if (member <= comparisons_->size())
              Q_EMIT makeCurrentRequested(
                  Design(comparisons_->all()[static_cast<size_t>(member - 1)].design));
          },
          Qt::QueuedConnection);
      connect(
          drop, &QPushButton::clicked, this, [this, member] { comparisons_->remove(member - 1); },
          Qt::QueuedConnection);
    }
    members_->addWidget(line);
    if (QWidget* same = line->objectName() == line_before ? line->findChild<QWidget*>(name_before) : nullptr)
      same->setFocus();
  }
}

void ComparePage::refresh() {
  const bool any = comparisons_->size() > 0;
  body_->setVisible(any);
  message_->setVisible(!any);
  if (!any) figures_.clear();
  if (!isVisible() || !any) return;
  fillMembers();
  const std::shared_ptr<const Estimate> now = session_->estimate();
  std::vector<ComparedDesign> made{now && now->simulation ? ComparedDesign{now->report, now->simulation}
                                                          : ComparedDesign{}};
  for (const PinnedDesign& pinned : comparisons_->all()) made.push_back(pinned.result);
  const auto count = static_cast<int>(made.size());
  knobs_model_->setKnobs(compare_knobs(designs()), count);
  figures_ = compare_figures(made);
  bars_->setFigures(figures_, session_->units());
  model_->setFigures(figures_, designs(), session_->units());
  markSelected();
  explain();
  fitHeights();
}

// Parts of the step time and of the peak memory are selections that other views share.
std::optional<Selection> ComparePage::selectionFor(const ComparedFigure& figure) const {
  Selection selection;
  for (int c = 0; c < kTimeCategoryCount; ++c) {
    selection.kind = SelectionKind::Time;
    selection.time = static_cast<TimeCategory>(c);
    if (figure.id == std::string(time_category_name(selection.time)) + "_seconds") return selection;
  }
  const std::shared_ptr<const Report> report = session_->report();
  for (int c = 0; report && report->memory && c < kAllMemoryCategories; ++c) {
    selection = {};
    selection.kind = SelectionKind::Memory;
    selection.memory = static_cast<MemoryCategory>(c);
    selection.stage = report->memory->peak_stage;
    if (figure.id == std::string(memory_category_name(selection.memory)) + "_bytes") return selection;
  }
  return std::nullopt;
}

void ComparePage::selectFigure(int figure) {
  const std::optional<Selection> selection = selectionFor(figures_[static_cast<size_t>(figure)]);
  if (!selection) return;
  state_->selectInAllViews(*selection, this);
  for (const GroupedBars::Row& row : bars_->rows())
    if (row.figure == figure)
      scroll_->ensureVisible(0, static_cast<int>(row.area.center().y()), 0,
                             static_cast<int>(row.area.height()));
  markSelected();
  explain();
}

void ComparePage::followSelection(const QObject* by) {
  if (by == this || !isVisible()) return;
  markSelected();
  explain();
}

void ComparePage::markSelected() {
  const ResolvedSelection& resolved = state_->resolvedSelection();
  std::vector<int> marked;
  int own = -1;
  for (size_t i = 0; i < figures_.size(); ++i) {
    const std::optional<Selection> selection = selectionFor(figures_[i]);
    if (!selection ||
        !(selection->kind == SelectionKind::Time ? resolved.time(selection->time)
                                                 : resolved.memory(selection->stage, selection->memory)))
      continue;
    marked.push_back(static_cast<int>(i));
    if (*selection == resolved.selection()) own = static_cast<int>(i);
  }
  // A row without a shared selection stays selected.
  if (!marked.empty() || !table_->hasFocus()) table_->showRow(own, marked);
  bars_->setMarked(std::move(marked));
}

void ComparePage::explain() {
  if (!isVisible()) return;
  const Selection& selection = state_->selection();
  const auto estimate = session_->estimate();
  if (selection.kind == SelectionKind::Nothing) return state_->inspect({});
  const auto figure = std::find_if(figures_.begin(), figures_.end(),
                                   [&](const ComparedFigure& of) { return selectionFor(of) == selection; });
  // The inspector keeps the text of an op or collective, which another view wrote.
  if (figure == figures_.end() || !estimate || !estimate->simulation ||
      estimate->report != session_->report())
    return;
  const Report& report = *estimate->report;
  Inspection out = selection.kind == SelectionKind::Time
                       ? inspect_category(*estimate->simulation, selection.time)
                       : inspect_memory(report, report.stages[static_cast<size_t>(selection.stage)],
                                        selection.memory, session_->units());
  out.more_title = tr("The same in the other designs");
  for (size_t member = 1; member < figure->values.size(); ++member) {
    const auto of = static_cast<int>(member);
    out.more.append({Comparisons::letter(of), compared_text(*figure, of, session_->units())});
  }
  state_->inspect(out);
}

void ComparePage::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  refresh();
  if (comparisons_->size() == 0) state_->inspect({});
}

void ComparePage::resizeEvent(QResizeEvent*) { fitHeights(); }

void ComparePage::fitHeights() {
  knobs_->setVisible(knobs_model_->rowCount() > 0);
  const int knobs = knobs_->heightUpTo(std::max(
      kLeastKnobs, static_cast<int>(height() * (height() < kLowPage ? kLowKnobsShare : kKnobsShare))));
  const int bars = std::min(bars_->fullHeight(),
                            std::max(kLeastBars, static_cast<int>(height() * kBarsShare)));
  splitter_->suggest({knobs_->isHidden() ? 1 : knobs, bars, 0});
}

Picture ComparePage::picture() const {
  const QString name = text_of(session_->design().name);
  QStringList letters;
  for (int place = 0; place <= comparisons_->size(); ++place) {
    const int member = Comparisons::place(place);
    letters << Comparisons::letter(member) + u' ' +
                   (member == 0 ? tr("current") : comparisons_->all()[static_cast<size_t>(member - 1)].name);
  }
  Picture picture = bars_->picture(tr("%1, compared: %2").arg(name, letters.join(QStringLiteral("; "))),
                                   slug(name) + QStringLiteral("-compared"));
  picture.size = QSize(std::max(900, bars_->width()), bars_->fullHeight() + 60);
  picture.csv = [model = model_] { return csv_text(*model); };
  return picture;
}

}  // namespace shardscape::ui
