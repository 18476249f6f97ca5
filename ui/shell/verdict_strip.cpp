#include "ui/shell/verdict_strip.h"

#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>
#include <QMouseEvent>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>

#include "design/knobs/knobs.h"
#include "design/knobs/zero_value.h"
#include "memory/memory_timeline.h"
#include "report/band_report.h"
#include "report/campaign_report.h"
#include "report/time_report.h"
#include "serving/inference.h"
#include "ui/inspector/step_inspection.h"
#include "ui/plot/missing_cost_line.h"
#include "ui/session/layout_finder.h"
#include "ui/session/session.h"
#include "ui/session/staleness.h"
#include "ui/shell/layout_popup.h"
#include "ui/shell/problems_model.h"
#include "ui/shell/verdict_cell.h"
#include "ui/toolkit/band_tip.h"
#include "ui/toolkit/contrast.h"
#include "ui/toolkit/elided_label.h"
#include "ui/toolkit/icons.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

// "of 80 GiB, stage 0": the peak has the unit of the capacity.
QString memory_detail(const QString& capacity, int stages, int stage) {
  const QString text = VerdictStrip::tr("of %1").arg(capacity);
  return stages > 1 ? text + VerdictStrip::tr(", stage %1").arg(stage) : text;
}

// The line of a tool tip on the 80 % band of a value; empty without a band.
QString bandLine(double value, const std::optional<ErrorBand>& band,
                 const std::function<std::string(double)>& text) {
  return band ? u'\n' + bandTip(text_of(band_text(value, band, text)), *band) : QString();
}

QFrame* rule(QWidget* parent) {
  auto* line = new QFrame(parent);
  line->setObjectName("verdict_rule");
  line->setFixedSize(1, 36);
  return line;
}

}  // namespace

VerdictStrip::VerdictStrip(Session* session, QWidget* parent)
    : QWidget(parent),
      session_(session),
      icon_(new QLabel(this)),
      figures_(new QWidget(this)),
      finder_(new LayoutFinder(session)) {
  setObjectName("verdict_strip");
  setAttribute(Qt::WA_StyledBackground);
  setFixedHeight(64);
  figures_->setObjectName("verdict_figures");
  verdict_ = new ElidedLabel(this, Theme::instance().uiFont(17, QFont::DemiBold));
  verdict_->setObjectName("verdict");
  verdict_->setSizePolicy(QSizePolicy::Minimum, QSizePolicy::Fixed);
  icon_->setFixedSize(22, 22);

  auto* cells = new QHBoxLayout(figures_);
  cells->setContentsMargins(0, 0, 0, 0);
  cells->setSpacing(20);
  const auto add = [&](const QString& label) {
    auto* cell = new VerdictCell(label, figures_);
    cells->addWidget(rule(figures_));
    cells->addWidget(cell);
    return cell;
  };
  memory_ = add(tr("Peak memory"));
  step_ = add(tr("Step"));
  mfu_ = add(tr("MFU"));
  tokens_ = add(tr("Tokens per second"));
  bubble_ = add(tr("Bubble"));
  exposed_ = add(tr("Exposed communication"));
  cost_ = add(tr("Per million tokens"));
  cost_->link()->setObjectName("set_missing_cost");
  connect(cost_->link(), &QPushButton::clicked, this, [this] {
    const auto missing = missing_costs({session_->design().cluster});
    if (!missing.empty()) session_->requestField(text_of(missing.front().knob));
  });
  cells->addStretch(1);

  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(20, 0, 20, 0);
  layout->setSpacing(9);
  layout->addWidget(icon_);
  layout->addWidget(verdict_);
  field_ = new QPushButton(this);
  field_->setObjectName("rejected_field");
  field_->setProperty("link", true);
  field_->setCursor(Qt::PointingHandCursor);
  field_->setVisible(false);
  connect(field_, &QPushButton::clicked, this, [this] { Q_EMIT fieldRequested(session_->rejectedField()); });
  layout->addWidget(field_);
  layout->addSpacing(11);
  layout->addWidget(figures_, 1);
  layout->addWidget(makeLayoutPart());

  auto* of_figures = new Staleness(session, Staleness::Of::Estimate, this);
  const auto fade = [this, of_figures] {
    for (VerdictCell* cell : figures_->findChildren<VerdictCell*>()) cell->setPale(of_figures->stale());
  };
  connect(of_figures, &Staleness::changed, this, fade);
  fade();
  staleness_ = new Staleness(session, Staleness::Of::Report, this);
  connect(staleness_, &Staleness::changed, this, &VerdictStrip::refresh);
  connect(session, &Session::reportChanged, this, &VerdictStrip::refresh);
  connect(session, &Session::estimateChanged, this, &VerdictStrip::refresh);
  connect(session, &Session::unitsChanged, this, &VerdictStrip::refresh);
  connect(session, &Session::problemsChanged, this, &VerdictStrip::refresh);
  connect(finder_, &LayoutFinder::changed, this, &VerdictStrip::showDistance);
  connect(&Theme::instance(), &Theme::changed, this, &VerdictStrip::refresh);
  refresh();
}

// The button "Find a layout" with the distance from the best layout below.
QWidget* VerdictStrip::makeLayoutPart() {
  auto* part = new QWidget(this);
  find_ = new QPushButton(tr("Find a layout"), part);
  find_->setObjectName("find_layout");
  find_->setToolTip(
      tr("Searches the parallelism for this model, workload and number of GPUs (Ctrl+Shift+L)"));
  find_->setCursor(Qt::ArrowCursor);
  distance_ = new ElidedLabel(part, Theme::instance().uiFont(11));
  distance_->setVisible(false);
  auto* column = new QVBoxLayout(part);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(3);
  column->addStretch();
  column->addWidget(find_, 0, Qt::AlignRight);
  column->addWidget(distance_, 0, Qt::AlignRight);
  column->addStretch();
  layouts_ = new LayoutPopup(session_, finder_, this);
  connect(find_, &QPushButton::clicked, this, &VerdictStrip::findLayout);
  return part;
}

// The link to the field whose text is rejected. The figures are those of the last valid design.
void VerdictStrip::showRejected(bool shown) {
  field_->setVisible(shown);
  verdict_->setToolTip({});
  if (!shown) return;
  const Problem& problem = *session_->rejected(session_->rejectedField());
  field_->setText(tr("Go to %1").arg(problemPlace(problem)));
  const QString tip = tr("%1. The figures are of the last valid design.").arg(text_of(problem.what));
  field_->setToolTip(tip);
  verdict_->setToolTip(tip);
}

void VerdictStrip::findLayout() {
  // A number of GPUs that the present layout refuses is what the person asks for.
  if (const Problem* refused = session_->rejected(kGpusField); refused && !refused->fixes.empty())
    session_->applyFix(Fix(refused->fixes.front()));
  layouts_->open();
}

void VerdictStrip::showDistance() {
  const Colors& colors = Theme::instance().colors();
  const QString& text = finder_->distance();
  distance_->setText(text);
  distance_->setVisible(!text.isEmpty());
  distance_->setInk(text.contains(tr("slower")) ? readable(colors.note, colors.panel) : colors.secondary);
  find_->setAccessibleDescription(text);
}

QString VerdictStrip::distance() const { return finder_->distance(); }

void VerdictStrip::showVerdict(const QString& icon, const QColor& color, const QString& text) {
  icon_->setPixmap(iconPixmap(icon, color, 22, devicePixelRatioF()));
  verdict_->setInk(readable(color, Theme::instance().colors().panel));
  verdict_->setText(text);
}

void VerdictStrip::refresh() {
  const Colors& colors = Theme::instance().colors();
  const std::shared_ptr<const Report> report = session_->report();
  figures_->setVisible(report != nullptr);
  // A rejected text that stays in a field counts as a design that cannot be built.
  const bool rejected = session_->hasRejectedText() && staleness_->stale();
  showRejected(rejected);
  showDistance();
  if (report) {
    showMemory();
    showTime();
  }
  if ((!session_->computing() && !session_->current()) || rejected) {
    showVerdict("error", colors.bad, tr("Cannot be built"));
    setCursor(Qt::PointingHandCursor);
    return;
  }
  if (!report) return;
  const bool fits = report->memory->fits;
  const auto note = fits ? session_->segmentsNote() : std::nullopt;
  const QString over = text_of(over_memory_text(*report, design_bands(report->design), session_->units()));
  verdict_->setToolTip(note             ? text_of(note->what)
                       : over.isEmpty() ? QString()
                                        : tr("It fits, but %1.").arg(over));
  fits && !note ? unsetCursor() : setCursor(Qt::PointingHandCursor);
  if (note || !over.isEmpty()) return showVerdict("note", colors.note, tr("May not fit"));
  showVerdict(fits ? "check" : "cross", fits ? colors.good : colors.bad,
              fits ? tr("Fits") : tr("Does not fit"));
}

void VerdictStrip::showMemory() {
  const Report& report = *session_->report();
  const UnitSystem units = session_->units();
  const MemoryTimeline& memory = *report.memory;
  const StageMemory& peak = memory.stages[static_cast<size_t>(memory.peak_stage)];
  const auto& accelerator = report.accelerator;
  if (!accelerator) return memory_->setValue(bytes_text(peak.in_use, units));
  memory_->setValue(with_unit(peak.in_use, byte_scale(to_double(memory.capacity), units)),
                    memory_detail(capacity_text(memory.capacity, units),
                                  static_cast<int>(memory.stages.size()), memory.peak_stage));
  memory_->setToolTip(
      tr("In use on one %1 of stage %2, the highest of all stages: tensors %3, in whole "
         "segments %4.\nPeak at: %5.")
          .arg(text_of(accelerator->name), QString::number(memory.peak_stage),
               text_of(format_bytes(peak.allocated, units)), text_of(format_bytes(peak.reserved, units)),
               text_of(peak.peak_text)) +
      bandLine(static_cast<double>(peak.in_use), design_bands(report.design).memory,
               [units](double value) { return format_bytes(static_cast<Wide>(value), units); }));
}

void VerdictStrip::showTime() {
  const Estimate* estimate = session_->estimate().get();
  if (!estimate || !estimate->simulation) {
    for (VerdictCell* cell : {step_, mfu_, tokens_, bubble_, exposed_, cost_}) {
      cell->setValue(QStringLiteral("–"));
      cell->setToolTip(estimate ? text_of(estimate->no_time_reason) : QString());
    }
    cost_->setLink({}, {});
    fitFigures();
    return;
  }
  const Simulation& s = *estimate->simulation;
  const QString machine = s.machine.accelerator ? text_of(s.machine.accelerator->name) : QString();
  const auto share = [](double part) { return text_of(significant(part * 100)) + " %"; };
  const bool training = trains(estimate->report->design);
  step_->setLabel(tr("Step"));
  tokens_->setLabel(training ? tr("Tokens per second") : tr("Tokens/s per GPU"));
  bubble_->setLabel(training ? tr("Bubble") : tr("KV cache"));
  const std::optional<ErrorBand> band = design_bands(estimate->report->design).time;
  const QString line = bandLine(s.step_seconds, band, format_seconds),
                seconds = text_of(format_seconds(s.step_seconds));
  step_->setValue(seconds, band ? seconds.section(' ', 1) + QStringLiteral(", ") +
                                      text_of(band_text(s.step_seconds, band, format_seconds))
                                : QString());
  step_->setToolTip(tr("One training step of %1 tokens on %2 %3.")
                        .arg(text_of(grouped(estimate->report->tokens_per_step)),
                             text_of(grouped(estimate->report->ranks)), machine) +
                    line);
  mfu_->setValue(share(s.mfu));
  mfu_->setToolTip("<p>" +
                   tr("Of %1 of %2: MFU %3, %4 TFLOP/s per GPU; HFU %5, %6 TFLOP/s per GPU.")
                       .arg(text_of(peak_text(s)), machine, share(s.mfu),
                            text_of(significant(s.model_tflops)), share(s.hfu),
                            text_of(significant(s.hardware_tflops))) +
                   "</p><p>" + mfu_text(s) + "</p>");
  tokens_->setValue(text_of(format_count(static_cast<Wide>(s.tokens_per_second))));
  tokens_->setToolTip(
      tr("Of the whole job; %1 on each GPU.")
          .arg(text_of(significant(s.tokens_per_second /
                                   static_cast<double>(std::max<int64_t>(1, estimate->report->ranks))))));
  bubble_->setValue(share(s.bubble));
  bubble_->setToolTip(tr("Share of the step in which a stage waits for another stage, mean over stages."));
  if (!training) {
    showInference(*estimate->report, s);
    step_->setToolTip(step_->toolTip() +
                      bandLine(served_seconds(*estimate->report, s), band, format_seconds));
  }
  showCost(*estimate->report, s);
  exposed_->setValue(share(s.exposed));
  exposed_->setToolTip(
      tr("Share of the step in which a stage computes nothing because of communication, mean over stages."));
}

// Dollars and energy of a million tokens. The tool tip has the days of the training run.
void VerdictStrip::showCost(const Report& report, const Simulation& simulation) {
  const RunningCost cost = running_cost(report.design.cluster, report.ranks, simulation.tokens_per_second);
  const QString dollars = cost.dollars ? text_of(dollars_text(*cost.dollars)) : QString(),
                energy = cost.kwh ? text_of(significant(*cost.kwh)) + " kWh" : QString();
  cost_->setValue(dollars.isEmpty() ? energy.isEmpty() ? QStringLiteral("–") : energy : dollars,
                  dollars.isEmpty() ? QString() : energy);
  const auto missing = missing_costs({report.design.cluster});
  cost_->setLink(missing.empty()                            ? QString()
                 : missing.front().knob == "price_per_hour" ? tr("Set price")
                                                            : tr("Set power"),
                 missing.empty() ? QString() : missingCostText(missing.front()));
  QStringList lines{costSources(report)};
  if (trains(report.design) && report.design.workload.tokens > 0)
    lines << text_of(campaign_sentence(campaign(report, simulation)));
  cost_->setToolTip(lines.join('\n'));
  fitFigures();
}

// Price and power of one accelerator, and where they come from.
QString VerdictStrip::costSources(const Report& report) const {
  QStringList lines{tr("While the job runs without interruptions; energy includes hosts and cooling.")};
  const auto zeros = zero_values(report.design);
  const auto missing = missing_costs({report.design.cluster});
  for (const MissingCost& value : missing) lines << missingCostText(value);
  for (const char* id : {"price_per_hour", "board_power", "host_power"}) {
    const Knob* knob = find_knob(id);
    const QString label = text_of(knob->label);
    const std::string value = knob_text(report.design, *knob);
    const auto zero = zeros.find(id);
    if (value == "0" && zero == zeros.end()) continue;  // unknown
    if (value == "0")
      lines << tr("%1: %2 (%3)").arg(label, text_of(zero->second.text()), text_of(zero->second.source));
    else
      lines << tr("%1: %2 %3, set in Cluster").arg(label, text_of(value), text_of(knob->unit));
  }
  return lines.join('\n');
}

void VerdictStrip::fitFigures() {
  QLayout* cells = figures_->layout();
  QVector<QWidget*> parts;  // a rule and a cell in turns
  for (int i = 0; i < cells->count(); ++i)
    if (QWidget* part = cells->itemAt(i)->widget()) parts << part;
  for (QWidget* part : parts) part->setVisible(true);
  cells->invalidate();
  const int room = width() - (layout()->sizeHint().width() - figures_->sizeHint().width());
  for (qsizetype shown = parts.size(); shown > 2 && figures_->sizeHint().width() > room; shown -= 2) {
    for (const qsizetype last : {shown - 1, shown - 2}) parts[last]->setVisible(false);
    cells->invalidate();
  }
}

void VerdictStrip::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  fitFigures();
}

void VerdictStrip::showInference(const Report& report, const Simulation& simulation) {
  const InferenceFigures f = inference_figures(report, simulation);
  const bool decodes = report.design.workload.mode == Mode::Decode;
  const QString seconds = text_of(format_seconds(f.seconds));
  const bool at_once = decodes || report.design.workload.batch <=
                                      report.design.workload.microbatch * report.design.parallel.dp;
  step_->setLabel(decodes ? tr("TPOT") : at_once ? tr("TTFT") : tr("TTFT, last prompt"));
  step_->setValue(
      seconds,
      at_once ? QString()
              : tr("%1, first %2").arg(seconds.section(' ', 1), text_of(format_seconds(f.first_seconds))));
  const QString prompts = text_of(grouped(report.design.workload.batch));
  if (decodes)
    step_->setToolTip(
        tr("Time per output token: from one token of a sequence to the next, %1 sequences at once.")
            .arg(prompts));
  else if (at_once)
    step_->setToolTip(tr("Time to first token: %1 prompts are processed at once, %2 tokens.")
                          .arg(prompts, text_of(grouped(report.tokens_per_step))));
  else
    step_->setToolTip(tr("Time to first token of the last of %1 prompts that arrive at once, %2 tokens in "
                         "total. The first prompts have their first token after %3.")
                          .arg(prompts, text_of(grouped(report.tokens_per_step)),
                               text_of(format_seconds(f.first_seconds))));
  tokens_->setValue(text_of(significant(f.tokens_per_gpu)));
  tokens_->setToolTip(
      tr("Of the whole job: %1.").arg(text_of(format_count(static_cast<Wide>(f.tokens_per_second)))));
  bubble_->setValue(text_of(format_bytes(f.kv_cache_bytes, session_->units())));
  bubble_->setToolTip(tr("KV cache of all sequences on one rank, on the stage with the largest KV cache."));
}

void VerdictStrip::mousePressEvent(QMouseEvent* event) {
  const auto report = session_->report();
  if (!session_->current() || session_->hasRejectedText() || (report && !report->memory->fits) ||
      session_->segmentsNote())
    Q_EMIT problemsRequested();
  QWidget::mousePressEvent(event);
}

QString VerdictStrip::verdict() const { return verdict_->text(); }

QString VerdictStrip::text() const {
  QStringList lines{verdict()};
  for (const VerdictCell* cell : {memory_, step_, mfu_, tokens_, bubble_, exposed_, cost_})
    lines << cell->text();
  return lines.join('\n');
}

}  // namespace shardscape::ui
