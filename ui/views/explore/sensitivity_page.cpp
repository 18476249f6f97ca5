#include "ui/views/explore/sensitivity_page.h"

#include <QAction>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QPainter>
#include <QPushButton>
#include <QShowEvent>
#include <QSortFilterProxyModel>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "ui/plot/chart_table.h"
#include "ui/plot/comparison_cells.h"
#include "ui/plot/missing_cost_line.h"
#include "ui/session/session.h"
#include "ui/toolkit/display_text.h"
#include "ui/toolkit/file_slug.h"
#include "ui/toolkit/page_splitter.h"
#include "ui/toolkit/segmented_control.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/value_scale.h"
#include "ui/views/explore/explore_inspection.h"

namespace shardscape::ui {
namespace {

constexpr int kTableHeight = 180;

// Null when stopped.
std::shared_ptr<const SensitivityPageResult> computeSensitivityPage(const Design& design,
                                                                    SensitivityPage::Kind kind,
                                                                    std::stop_token stop) {
  auto out = std::make_shared<SensitivityPageResult>();
  if (kind == SensitivityPage::Kind::Sensitivity) {
    auto made = sensitivity(design, stop);
    if (!made) return nullptr;
    out->sensitivity = std::make_shared<const Sensitivity>(std::move(*made));
    return out;
  }
  ScalingOptions options;
  auto strong = scaling(design, options, stop);
  options.weak = true;
  auto weak = strong ? scaling(design, options, stop) : std::nullopt;
  if (!weak) return nullptr;
  out->strong = std::move(*strong);
  out->weak = std::move(*weak);
  return out;
}

// The relative change of tokens per second; empty if a step was not timed.
std::optional<double> gain_of(const Sensitivity& of, const Neighbour& n) {
  if (of.now.tokens_per_second <= 0 || !n.evaluation.timed()) return std::nullopt;
  return n.evaluation.tokens_per_second / of.now.tokens_per_second - 1;
}

// "62.3 to 118", or the low end of a run that may make no progress.
QString days_range(const Band& days) {
  return std::isfinite(days.high)
             ? text_of(significant(days.low)) + SensitivityPage::tr(" to ") + text_of(significant(days.high))
             : SensitivityPage::tr("from %1").arg(text_of(significant(days.low)));
}

// The change of the same knob to the same value; nullptr: none.
const Neighbour* same_change(const Sensitivity& of, const Knob& knob, const std::string& value) {
  for (const KnobSensitivity& k : of.knobs)
    for (const Neighbour& n : k.neighbours)
      if (k.knob == &knob && n.value == value) return &n;
  return nullptr;
}

}  // namespace

void SensitivityModel::setSensitivity(const Sensitivity& of, Mode mode,
                                      const std::vector<Tornado::OtherDesign>& others, UnitSystem units) {
  Rows rows;
  for (const KnobSensitivity& knob : of.knobs)
    for (const Neighbour& n : knob.neighbours) {
      const double by = gain_of(of, n).value_or(0);
      const bool fits = n.evaluation.feasibility == Feasibility::Fits;
      QStringList also;
      for (const auto& [id, value] : n.also) {
        const Knob* follows = find_knob(id);
        also << (follows ? text_of(follows->label) + u' ' + displayText(*follows, text_of(value))
                         : text_of(id) + u' ' + text_of(value));
      }
      TableCell memory = number_cell(n.evaluation.memory, bytes_text(n.evaluation.memory, units));
      memory.alarm = !fits;
      rows.push_back(
          {text_cell(text_of(knob.knob->label), text_of(knob.knob->id)),
           text_cell(displayText(*knob.knob, text_of(knob.value)), text_of(knob.value)),
           text_cell(displayText(*knob.knob, text_of(n.value)), text_of(n.value)),
           real_cell(n.evaluation.step_seconds, text_of(format_seconds(n.evaluation.step_seconds))),
           real_cell(by, signed_percent_text(by)), memory, text_cell(fits ? tr("fits") : tr("does not fit")),
           text_cell(also.join(QStringLiteral(", ")))});
      for (const Tornado::OtherDesign& other : others) {
        const Neighbour* same = same_change(*other.sensitivity, *knob.knob, n.value);
        const std::optional<double> theirs = same ? gain_of(*other.sensitivity, *same) : std::nullopt;
        rows.back().push_back(theirs ? real_cell(*theirs, signed_percent_text(*theirs)) : no_cell());
        rows.back().push_back(
            same ? number_cell(same->evaluation.memory, bytes_text(same->evaluation.memory, units))
                 : no_cell());
      }
    }
  std::vector<TableColumn> columns{
      {tr("Setting"), QStringLiteral("knob"), false, {}},
      {tr("Value"), QStringLiteral("value"), false, {}},
      {tr("Changed to"), QStringLiteral("neighbour"), false, {}},
      {stepHeading(mode), stepLabel(mode).toLower() + QStringLiteral(" (s)"), true, stepLabel(mode), true},
      {tr("Tokens/s"), QStringLiteral("change of tokens per second (share)"), true, {}},
      {tr("Memory"), QStringLiteral("memory (bytes)"), true, {}},
      {tr("Fits"), QStringLiteral("fits"), false, {}},
      {tr("Together with"), QStringLiteral("also"), false, tr("Settings that must change too")}};
  for (const Tornado::OtherDesign& other : others) {
    const QString letter = Comparisons::letter(other.member);
    columns.push_back(
        {tr("%1\ntokens/s").arg(letter), letter + QStringLiteral(" change of tokens per second (share)"),
         true,
         tr("Effect of the same value on %1; - if %1 already has the value, or if it is invalid")
             .arg(letter)});
    columns.push_back({tr("%1\nmemory").arg(letter), letter + QStringLiteral(" memory (bytes)"), true,
                       tr("Memory with the same value")});
  }
  assign(std::move(columns), std::move(rows));
}

// run: also of the days of a training run.
std::vector<TableColumn> ScalingModel::columns(Mode mode, bool run,
                                               const std::vector<ScalingChart::OtherDesign>& others) const {
  std::vector<TableColumn> out{
      {tr("Scaling"), QStringLiteral("scaling"), false, {}},
      {tr("GPUs"), QStringLiteral("gpus"), true, {}},
      {tr("dp"), QStringLiteral("dp"), true, {}},
      {tr("Batch"), QStringLiteral("batch"), true, {}},
      {stepHeading(mode), stepLabel(mode).toLower() + QStringLiteral(" (s)"), true, stepLabel(mode)},
      {tr("Tokens/s\nper GPU"), QStringLiteral("tokens per second and GPU"), true, {}},
      {tr("Efficiency"), QStringLiteral("efficiency (share)"), true,
       tr("Tokens/s per GPU, relative to the smallest size")},
      {tr("Memory"), QStringLiteral("memory (bytes)"), true, {}},
      {tr("$ per\nM tokens"), QStringLiteral("million tokens ($)"), true, tr("Dollars of a million tokens")},
      {tr("kWh per\nM tokens"), QStringLiteral("million tokens (kWh)"), true,
       tr("Energy of a million tokens: accelerators, hosts and cooling")},
      {tr("Remark"), QStringLiteral("remark"), false, {}}};
  if (run)
    out.insert(out.end() - 1,
               {{tr("Days"), QStringLiteral("days"), true, tr("Expected days of the training run")},
                {tr("Band"), QStringLiteral("days (band)"), true,
                 tr("Days of at least 90 % of runs, with interruptions")}});
  for (const ScalingChart::OtherDesign& other : others)
    for (TableColumn& column :
         comparisonColumns(other.member, tr("tokens/s"), QStringLiteral("tokens per second and GPU"),
                           tr("Per GPU, on the same number of GPUs")))
      out.push_back(std::move(column));
  return out;
}

void ScalingModel::setPoints(const std::vector<ScalePoint>& strong, const std::vector<ScalePoint>& weak,
                             const Design& design, const std::vector<ScalingChart::OtherDesign>& others,
                             const std::vector<ScalingChart::ExtraLine>& extra, UnitSystem units) {
  const auto plans = [](const ScalePoint& p) { return p.days.has_value(); };
  const bool run = std::any_of(strong.begin(), strong.end(), plans) ||
                   std::any_of(weak.begin(), weak.end(), plans);
  const auto number = [](const std::optional<double>& value, const char* before) {
    return value && std::isfinite(*value)
               ? real_cell(*value, QString::fromLatin1(before) + text_of(significant(*value)))
               : no_cell();
  };
  // knob: sets the price or the power that an unknown cost needs.
  const auto cost = [&](const std::optional<double>& value, const char* before, const ClusterSpec& cluster,
                        const char* knob) {
    TableCell cell = number(value, before);
    if (!value) cell.tip = missingCostTip(cluster, knob);
    return cell;
  };
  Rows rows;
  struct NamedLine {
    QString name;
    const std::vector<ScalePoint>& points;
    ScalingChart::Line like;
    const ClusterSpec& cluster;
  };
  std::vector<NamedLine> lines{{tr("strong"), strong, ScalingChart::Strong, design.cluster},
                               {tr("weak"), weak, ScalingChart::Weak, design.cluster}};
  for (const ScalingChart::ExtraLine& line : extra)
    lines.push_back({line.label, line.points, ScalingChart::Strong, line.cluster});
  for (const NamedLine& line : lines)
    for (const ScalePoint& p : line.points) {
      const bool timed = p.evaluation.timed();
      const double each = per_gpu(p);
      const auto real = [&](double value, const QString& shown) {
        return timed ? real_cell(value, shown) : text_cell(QStringLiteral("-"), QString());
      };
      const bool fits = p.evaluation.feasibility == Feasibility::Fits;
      TableCell memory = timed ? number_cell(p.evaluation.memory, bytes_text(p.evaluation.memory, units))
                               : text_cell(QStringLiteral("-"), QString());
      memory.alarm = timed && !fits;
      rows.push_back(
          {text_cell(line.name), number_cell(p.gpus, grouped_text(p.gpus)),
           number_cell(p.dp, grouped_text(p.dp)), number_cell(p.batch, grouped_text(p.batch)),
           real(p.evaluation.step_seconds, text_of(format_seconds(p.evaluation.step_seconds))),
           real(each, grouped_text(static_cast<Wide>(std::llround(each)))),
           real(p.efficiency, percent_text(p.efficiency)), memory,
           cost(p.cost.dollars, "$", line.cluster, "price_per_hour"),
           cost(p.cost.kwh, "", line.cluster, "board_power"),
           text_cell(p.wrong.empty() ? (fits ? tr("fits") : tr("does not fit")) : text_of(p.wrong))});
      if (run)
        rows.back().insert(rows.back().end() - 1,
                           {number(p.days ? std::optional(p.days->mean) : std::nullopt, ""),
                            text_cell(p.days ? days_range(*p.days) : QStringLiteral("-"), QString())});
      for (const ScalingChart::OtherDesign& other : others) {
        const std::vector<ScalePoint>& theirs_at = other.lines[line.like];
        const auto same = std::find_if(theirs_at.begin(), theirs_at.end(), [&](const ScalePoint& o) {
          return o.gpus == p.gpus && o.evaluation.timed();
        });
        const std::optional<double> theirs = same == theirs_at.end() ? std::nullopt
                                                                     : std::optional(per_gpu(*same));
        for (TableCell& cell :
             comparisonCells(timed ? std::optional(each) : std::nullopt, theirs,
                             [](double v) { return grouped_text(static_cast<Wide>(std::llround(v))); }))
          rows.back().push_back(std::move(cell));
      }
    }
  assign(columns(design.workload.mode, run, others), std::move(rows));
}

SensitivityPage::SensitivityPage(Kind kind, Session* session, QWidget* parent)
    : ViewPage(parent),
      kind_(kind),
      session_(session),
      comparison_(
          session->comparisons(), this,
          [kind](const ComparedDesign& of, int, std::stop_token stop) {
            return computeSensitivityPage(of.report->design, kind, stop);
          },
          [this] { fill(); }) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(8);
  auto* top = new QHBoxLayout;
  intro_ = new QLabel(this);
  intro_->setProperty("role", "small");
  top->addWidget(intro_, 1);
  if (kind == Kind::Sensitivity) {
    measure_switch_ = new SegmentedControl(tr("Measure"), {tr("Time"), tr("Memory")}, this);
    measure_switch_->setObjectName(QStringLiteral("sensitivity_what"));
    connect(measure_switch_, &SegmentedControl::chosen, this, &SensitivityPage::fill);
    top->addWidget(measure_switch_);
  }
  if (kind == Kind::Scaling) top->addWidget(makeLines());
  layout->addLayout(top);
  message_ = new QLabel(this);
  message_->setProperty("role", "secondary");
  message_->setAlignment(Qt::AlignCenter);
  layout->addWidget(message_, 1);
  splitter_ = new PageSplitter(
      kind == Kind::Sensitivity ? QStringLiteral("sensitivity") : QStringLiteral("scaling"), this);
  layout->addWidget(splitter_, 1);
  table_ = new ChartTable(splitter_);
  if (kind == Kind::Sensitivity) {
    tornado_ = new Tornado(this);
    splitter_->addWidget(tornado_);
    sensitivity_model_ = new SensitivityModel(this);
    table_->setAccessibleName(tr("Table: every single change"));
    table_->setTable(sensitivity_model_);
    makeRowsApply();
    connect(tornado_, &Tornado::rowSelected, this, &SensitivityPage::explainChange);
    connect(tornado_, &Tornado::rowActivated, this, [this](int row) {
      if (const Neighbour* best = tornado_->best(row))
        apply(
            result_->sensitivity->knobs[static_cast<size_t>(tornado_->rows()[static_cast<size_t>(row)].knob)],
            *best);
    });
  } else {
    chart_ = new ScalingChart(this);
    splitter_->addWidget(chart_);
    scaling_model_ = new ScalingModel(this);
    table_->setAccessibleName(tr("Table: sizes of the job"));
    table_->setTable(scaling_model_);
    connect(chart_, &ScalingChart::pointSelected, this, [this](int line, int point) {
      explainPoint(line, point);
      table_->showRow(point + (line == ScalingChart::Weak ? static_cast<int>(result_->strong.size()) : 0));
    });
    connect(table_, &ChartTable::rowSelected, this, [this](int row) {
      const auto strong = static_cast<int>(result_->strong.size());
      if (row >= strong + static_cast<int>(result_->weak.size())) return;  // a line without a selection
      const int line = row < strong ? ScalingChart::Strong : ScalingChart::Weak;
      const int point = row < strong ? row : row - strong;
      const QSignalBlocker quiet(chart_);
      chart_->select(static_cast<ScalingChart::Line>(line), point);
      explainPoint(line, point);
    });
  }
  splitter_->addWidget(table_);
  if (kind == Kind::Scaling)
    connect(table_, &QTableView::doubleClicked, this, [this](const QModelIndex& index) {
      makeBestCurrent(table_->sorted()->mapToSource(index).row());
    });
  connect(session_, &Session::reportChanged, this, &SensitivityPage::refresh);
  connect(session_, &Session::unitsChanged, this, &SensitivityPage::fill);
  fill();
}

// By double click, by Enter, and in the context menu of the table.
void SensitivityPage::makeRowsApply() {
  auto* action = new QAction(tr("Apply this change"), table_);
  action->setObjectName(QStringLiteral("apply_change"));
  action->setShortcuts({Qt::Key_Return, Qt::Key_Enter});
  action->setShortcutContext(Qt::WidgetShortcut);
  table_->insertAction(table_->actions().value(0), action);
  table_->setAccessibleDescription(tr("Enter applies the change of the row"));
  const auto apply_at = [this](const QModelIndex& index) {
    if (index.isValid()) applyRow(table_->sorted()->mapToSource(index).row());
  };
  connect(action, &QAction::triggered, this, [this, apply_at] { apply_at(table_->currentIndex()); });
  connect(table_, &QTableView::doubleClicked, this, apply_at);
}

void SensitivityPage::applyRow(int row) {
  for (const KnobSensitivity& knob : result_->sensitivity->knobs) {
    const auto changes = static_cast<int>(knob.neighbours.size());
    if (row < changes) return apply(knob, knob.neighbours[static_cast<size_t>(row)]);
    row -= changes;
  }
}

void SensitivityPage::apply(const KnobSensitivity& knob, const Neighbour& change) {
  Q_EMIT makeCurrentRequested(Design(change.design), tr("set %1").arg(text_of(knob.knob->label).toLower()));
}

void SensitivityPage::refresh() {
  if (!isVisible() || !session_->current()) return;
  comparison_.show(0);
  if (started_ && design_ == session_->design()) return;
  design_ = session_->design();
  started_ = true;
  ready_ = false;
  lines_job_.stop();
  lines_ready_ = false;
  extra_.clear();
  best_.clear();
  fill();
  job_.start([this, design = design_, kind = kind_](const NewestJob::Post& post, std::stop_token stop) {
    auto made = computeSensitivityPage(design, kind, stop);
    if (!made) return;
    post([this, made] {
      result_ = made;
      ready_ = true;
      fill();
      if (kind_ == Kind::Scaling) computeLines();
    });
  });
}

QWidget* SensitivityPage::makeLines() {
  auto* button = new QPushButton(tr("Lines"), this);
  button->setObjectName(QStringLiteral("scaling_lines"));
  button->setToolTip(tr("The best layout at each size, other networks and accelerators as lines"));
  lines_menu_ = new QMenu(button);
  button->setMenu(lines_menu_);
  button->setProperty("menu", true);
  connect(lines_menu_, &QMenu::aboutToShow, this, &SensitivityPage::fillLinesMenu);
  return button;
}

void SensitivityPage::fillLinesMenu() {
  lines_menu_->clear();
  QAction* best = lines_menu_->addAction(tr("Best layout at each size"));
  best->setObjectName(QStringLiteral("best_layouts"));
  best->setCheckable(true);
  best->setChecked(with_best_);
  connect(best, &QAction::toggled, this, [this](bool on) {
    with_best_ = on;
    computeLines();
  });
  lines_menu_->addSeparator();
  const bool full = variants_.size() + 1 >= ScalingChart::kMostExtra;
  const auto add = [&](QMenu* menu, const ClusterVariant& variant, const QString& label) {
    QAction* action = menu->addAction(label);
    const bool chosen = std::find(variants_.begin(), variants_.end(), variant) != variants_.end();
    action->setObjectName(text_of(variant.knob) + u'=' + text_of(variant.value));
    action->setCheckable(true);
    action->setChecked(chosen);
    action->setEnabled(chosen || !full);
    connect(action, &QAction::toggled, this, [this, variant](bool on) {
      if (on)
        variants_.push_back(variant);
      else
        std::erase(variants_, variant);
      computeLines();
    });
  };
  for (const char* id : {"network", "accelerator", "scaleup_domain"}) {
    const Knob& knob = *find_knob(id);
    QMenu* menu = lines_menu_->addMenu(text_of(knob.label));
    menu->setStyleSheet(QStringLiteral("QMenu { menu-scrollable: 1; }"));
    for (const KnobChoice& choice : knob.choices) add(menu, {id, choice.value}, text_of(choice.label));
    if (knob.choices.empty())
      for (const char* ranks : {"8", "16", "32", "64", "72", "128", "256", "576"})
        add(menu, {id, ranks}, tr("%1 GPUs").arg(QString::fromLatin1(ranks)));
  }
}

// Other clusters first, because a search of layouts takes seconds.
void SensitivityPage::computeLines() {
  lines_ready_ = false;
  best_.clear();
  extra_.clear();
  if (!ready_) return;
  fill();
  struct Made {
    std::vector<ScalingChart::ExtraLine> extra;
    std::vector<LayoutAtSize> best;
  };
  lines_job_.start([this, design = design_, variants = variants_, with_best = with_best_,
                    strong = result_->strong](const NewestJob::Post& post, std::stop_token stop) {
    auto made = std::make_shared<Made>();
    for (const ClusterVariant& variant : variants) {
      const auto on = design_on(design, variant);
      std::vector<ScalePoint> points;
      ClusterSpec cluster = design.cluster;
      if (const auto* changed = std::get_if<Design>(&on)) {
        cluster = changed->cluster;
        auto line = scaling(*changed, {}, stop);
        if (!line) return;
        points = std::move(*line);
      }
      made->extra.push_back({text_of(variant_label(variant)), std::move(points), false, cluster});
    }
    const auto show = [this, &post](const std::shared_ptr<Made>& of, bool last) {
      post([this, of = std::make_shared<Made>(*of), last] {
        extra_ = of->extra;
        best_ = of->best;
        lines_ready_ = last;
        fill();
      });
    };
    show(made, !with_best);
    if (!with_best) return;
    auto best = best_layouts(design, strong, stop);
    if (!best) return;
    made->extra.insert(made->extra.begin(), {tr("best layout"), best_points(*best), true, design.cluster});
    made->best = std::move(*best);
    show(made, true);
  });
}

// Double click on a row of the best layout.
void SensitivityPage::makeBestCurrent(int row) {
  const int at = row - static_cast<int>(result_->strong.size() + result_->weak.size());
  if (at < 0 || at >= static_cast<int>(best_.size()) || !best_[static_cast<size_t>(at)].fastest) return;
  const FoundLayout& found = *best_[static_cast<size_t>(at)].fastest;
  Q_EMIT makeCurrentRequested(Design(found.design), tr("best layout on %1 GPUs").arg(found.design.world()));
}

void SensitivityPage::fill() {
  const bool any = ready_;
  message_->setVisible(!any);
  message_->setText(session_->current() ? tr("Computing…") : tr("This page needs a valid design."));
  const QString lead =
      kind_ == Kind::Sensitivity
          ? tr("One setting changes at a time. A double click on a bar or a row applies the change")
          : tr("The current design with more or fewer replicas. Efficiency is relative to the smallest size");
  const bool searching = any && kind_ == Kind::Scaling && with_best_ && !lines_ready_;
  intro_->setText(searching                     ? tr("%1; the best layouts are being searched").arg(lead)
                  : any && !comparison_.ready() ? tr("%1; pinned designs are being computed").arg(lead)
                                                : lead);
  splitter_->setVisible(any);
  table_->setVisible(any);
  if (tornado_) tornado_->setVisible(any);
  if (chart_) chart_->setVisible(any);
  if (!any) return;
  kind_ == Kind::Sensitivity ? fillTornado() : fillScaling();
  fitTable();
}

// The table of single changes takes the height that the bars leave in a tall window.
void SensitivityPage::fitTable() {
  int most = kTableHeight;
  if (tornado_) {
    const int above = layout()->itemAt(0)->sizeHint().height() + 2 * layout()->spacing();
    most = std::max(most, height() - above - splitter_->handleWidth() - tornado_->fullHeight());
  }
  splitter_->suggest({0, table_->heightUpTo(most)});
}

void SensitivityPage::fillTornado() {
  std::vector<Tornado::OtherDesign> others;
  for (const auto& one : comparison_.all()) others.push_back({one.member, one.result->sensitivity});
  tornado_->setSensitivity(
      result_->sensitivity,
      measure_switch_->current() == 1 ? SensitivityMeasure::Memory : SensitivityMeasure::Time,
      session_->units());
  tornado_->setComparedDesigns(others);
  sensitivity_model_->setSensitivity(*result_->sensitivity, design_.workload.mode, others, session_->units());
}

void SensitivityPage::fillScaling() {
  std::vector<ScalingChart::OtherDesign> others;
  for (const auto& one : comparison_.all())
    others.push_back({one.member, {one.result->strong, one.result->weak}});
  const std::vector<ScalePoint>& strong = result_->strong;
  chart_->setPoints(strong, result_->weak, design_.world(), design_.workload.mode);
  chart_->setComparedDesigns(others);
  chart_->setExtraLines(extra_);
  scaling_model_->setPoints(strong, result_->weak, design_, others, extra_, session_->units());
  // The first sizes may be too small for the design: the table scrolls to the first size that can run.
  const auto runs = std::find_if(strong.begin(), strong.end(),
                                 [](const ScalePoint& p) { return p.evaluation.timed(); });
  if (runs != strong.end())
    table_->scrollTo(table_->model()->index(static_cast<int>(runs - strong.begin()), 0),
                     QAbstractItemView::PositionAtTop);
}

void SensitivityPage::explainChange(int row) {
  if (row < 0 || !result_ || !result_->sensitivity) return Q_EMIT explained({});
  const KnobSensitivity& knob = result_->sensitivity->knobs[static_cast<size_t>(
      tornado_->rows()[static_cast<size_t>(row)].knob)];
  Q_EMIT explained(inspectSensitivity(*result_->sensitivity, knob, session_->units()));
}

void SensitivityPage::explainPoint(int line, int point) {
  if (!result_) return;
  const auto& points = line == ScalingChart::Weak ? result_->weak : result_->strong;
  Q_EMIT explained(point < 0 ? Inspection{}
                             : inspectScale(points[static_cast<size_t>(point)], line == ScalingChart::Weak,
                                            design_.workload.mode, session_->units()));
}

void SensitivityPage::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  fitTable();
}

void SensitivityPage::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  refresh();
}

Picture SensitivityPage::picture() const {
  const bool tornado = kind_ == Kind::Sensitivity;
  const QString name = text_of(session_->design().name);
  const Canvas* drawn = tornado ? static_cast<const Canvas*>(tornado_) : chart_;
  Picture picture = drawn->picture(
      (tornado ? tr("%1, sensitivity") : tr("%1, scaling")).arg(name),
      slug(name) + (tornado ? QStringLiteral("-sensitivity") : QStringLiteral("-scaling")));
  picture.csv = [this, tornado] {
    return csv_text(tornado ? static_cast<const TableModel&>(*sensitivity_model_) : *scaling_model_);
  };
  return picture;
}

}  // namespace shardscape::ui
