#include "ui/widgets/verdict_strip.h"

#include <QFrame>
#include <QGraphicsOpacityEffect>
#include <QHBoxLayout>
#include <QLabel>
#include <QMouseEvent>

#include "simulate/estimate.h"
#include "ui/state/session.h"
#include "ui/theme/contrast.h"
#include "ui/theme/icons.h"
#include "ui/theme/theme.h"
#include "ui/widgets/elided_label.h"
#include "ui/widgets/verdict_cell.h"

namespace shardscape::ui {
namespace {

QString text_of(const std::string& utf8) { return QString::fromStdString(utf8); }

// "61.3 GiB" and "80.0 GiB" as "of 80.0 GiB, stage 0"; the unit of the peak too where it is another one.
QString memory_detail(const QString& peak, const QString& capacity, const Report& report) {
  const QString unit = peak.section(' ', 1);
  QString text = VerdictStrip::tr("of %1").arg(capacity);
  if (capacity.section(' ', 1) != unit) text = unit + " " + text;
  return report.stages.size() > 1 ? text + VerdictStrip::tr(", stage %1").arg(report.memory->peak_stage) : text;
}

QFrame* rule(QWidget* parent) {
  auto* line = new QFrame(parent);
  line->setObjectName("verdict_rule");
  line->setFixedSize(1, 36);
  return line;
}

}  // namespace

VerdictStrip::VerdictStrip(Session* session, QWidget* parent)
    : QWidget(parent), session_(session), icon_(new QLabel(this)), figures_(new QWidget(this)) {
  setObjectName("verdict_strip");
  setAttribute(Qt::WA_StyledBackground);
  setFixedHeight(64);
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
  memory_ = add(tr("Peak memory of a rank"));
  parameters_ = add(tr("Parameters"));
  flops_ = add(tr("Compute per step"));
  bytes_ = add(tr("Communicated per step"));
  tokens_ = add(tr("Tokens per step"));
  cells->addStretch(1);

  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(20, 0, 20, 0);
  layout->setSpacing(9);
  layout->addWidget(icon_);
  layout->addWidget(verdict_);
  layout->addSpacing(11);
  layout->addWidget(figures_, 1);

  slow_.setSingleShot(true);
  slow_.setInterval(100);
  connect(&slow_, &QTimer::timeout, this, [this] { dim(true); });
  connect(session, &Session::computingChanged, this, [this] {
    if (session_->computing()) return slow_.start();
    slow_.stop();
    dim(!session_->current());
  });
  connect(session, &Session::reportChanged, this, &VerdictStrip::refresh);
  connect(session, &Session::unitsChanged, this, &VerdictStrip::refresh);
  connect(&Theme::instance(), &Theme::changed, this, &VerdictStrip::refresh);
  refresh();
}

// The figures of an earlier design stay readable, but pale.
void VerdictStrip::dim(bool on) {
  if (on == (figures_->graphicsEffect() != nullptr)) return;
  if (!on) return figures_->setGraphicsEffect(nullptr);
  auto* effect = new QGraphicsOpacityEffect(figures_);
  effect->setOpacity(0.45);
  figures_->setGraphicsEffect(effect);
}

void VerdictStrip::showVerdict(const QString& icon, const QColor& color, const QString& text) {
  icon_->setPixmap(iconPixmap(icon, color, 22, devicePixelRatioF()));
  verdict_->setInk(readable(color, Theme::instance().colors().panel));
  verdict_->setText(text);
}

void VerdictStrip::refresh() {
  const Colors& colors = Theme::instance().colors();
  const std::shared_ptr<const Report> report = session_->report();
  figures_->setVisible(report != nullptr);
  if (!session_->computing() && !session_->current()) {
    showVerdict("error", colors.bad, tr("Cannot be built"));
    setCursor(Qt::PointingHandCursor);
    return;
  }
  unsetCursor();
  if (!report) return;
  const MemoryTimeline& memory = *report->memory;
  showVerdict(memory.fits ? "check" : "cross", memory.fits ? colors.good : colors.bad, memory.fits ? tr("Fits") : tr("Does not fit"));
  const UnitSystem units = session_->units();
  const QString used = text_of(format_bytes(memory_in_use(*report, memory.peak_stage), units));
  if (report->accelerator) {
    const QString capacity = text_of(format_bytes(report->accelerator->memory_bytes, units));
    memory_->setValue(used, memory_detail(used, capacity, *report));
    memory_->setToolTip(tr("The largest of all ranks, of stage %1, on %2.")
                            .arg(memory.peak_stage)
                            .arg(text_of(report->accelerator->name)));
  } else {
    memory_->setValue(used);
  }
  const QString parameters = text_of(format_count(report->model_parameters.value));
  QStringList tip{text_of(grouped(report->model_parameters.value))};
  if (report->active_parameters.value != report->model_parameters.value) {
    parameters_->setValue(parameters, tr("%1, %2 active").arg(parameters.section(' ', 1), text_of(format_count(report->active_parameters.value))));
    tip << tr("%1 active: those that one token meets.").arg(text_of(grouped(report->active_parameters.value)));
  } else {
    parameters_->setValue(parameters);
  }
  if (report->kv_cache_bytes.value > 0)
    tip << tr("Keys and values of a token in all layers: %1.").arg(text_of(format_bytes(report->kv_cache_bytes.value, units)));
  parameters_->setToolTip(tip.join('\n'));
  flops_->setValue(text_of(format_flops(static_cast<Wide>(report->step_flops))));
  flops_->setToolTip(tr("Counted as the kernels compute it, all ranks."));
  bytes_->setValue(text_of(format_bytes(static_cast<Wide>(report->step_comm_bytes), units)));
  bytes_->setToolTip(tr("Full buffers of all collectives and transfers, all ranks."));
  tokens_->setValue(text_of(format_count(report->tokens_per_step)));
  tokens_->setToolTip(tr("%1 tokens in %2 microbatches per replica.")
                          .arg(text_of(grouped(report->tokens_per_step)), text_of(grouped(report->microbatches))));
}

void VerdictStrip::mousePressEvent(QMouseEvent* event) {
  if (!session_->current()) Q_EMIT problemsRequested();
  QWidget::mousePressEvent(event);
}

QString VerdictStrip::verdict() const { return verdict_->text(); }

QString VerdictStrip::text() const {
  QStringList lines{verdict()};
  for (const VerdictCell* cell : {memory_, parameters_, flops_, bytes_, tokens_}) lines << cell->text();
  return lines.join('\n');
}

}  // namespace shardscape::ui
