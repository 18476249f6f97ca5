#include "ui/plot/stage_chart.h"

#include <qcustomplot.h>

#include <QTextDocumentFragment>
#include <QVBoxLayout>

#include "ui/plot/axis_scale.h"
#include "ui/plot/chart_heading.h"
#include "ui/plot/design_overlay.h"
#include "ui/plot/stacked_bars.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

constexpr double kTickRoom = 26;       // pixels for a stage number of two digits
constexpr double kTickGap = 3;         // at least, between longer ones
constexpr double kTickRounding = 1.5;  // how many times closer than asked the rounded ticks may be
constexpr int kLeft = 44, kRight = 4;  // pixels left and right of the plot
constexpr double kValueTickRoom = 34;  // as on painted axes
constexpr double kHeadroom = 1.08;     // above the tallest bar or the limit, for their labels

// The ticks of all charts.
class ValueTicker : public QCPAxisTicker {
 protected:
  double getTickStep(const QCPRange& range) override { return step_ = tick_step(range.size(), mTickCount); }
  int getSubTickCount(double) override { return 0; }
  QString getTickLabel(double tick, const QLocale&, QChar, int) override { return tick_text(tick, step_); }

 private:
  double step_ = 1;
};

constexpr double kLeastInTip = 0.005;  // share of the stage; smaller parts are only in the table

QString escaped(const QString& text) { return text.toHtmlEscaped(); }

}  // namespace

struct StageChart::Parts {
  QCustomPlot* plot = nullptr;
  ChartHeading* heading = nullptr;
  StackedBars* bars = nullptr;
  QSharedPointer<QCPAxisTickerFixed> stages;
  BarData data;
  BarHit selected;
  int marked_stage = 0;
  std::vector<int> marked;  // of that stage
  std::vector<BarMark> others;
  bool dirty = true;  // changed while hidden and not replotted since
};

StageChart::StageChart(QWidget* parent)
    : Canvas(QString(), QString(), parent), parts_(std::make_unique<Parts>()) {
  parts_->plot = new QCustomPlot(this);
  QCustomPlot& plot = *parts_->plot;
  plot.setFocusPolicy(Qt::NoFocus);
  plot.setAttribute(Qt::WA_TransparentForMouseEvents);  // the chart handles the mouse
  plot.setInteractions({});
  plot.setNoAntialiasingOnDrag(false);
  plot.setLocale(QLocale(QLocale::English));  // thousands separators on the axis
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(&plot);

  parts_->heading = new ChartHeading(&plot);
  parts_->heading->setAxisRect(plot.axisRect());
  parts_->heading->setData(&parts_->data);
  plot.plotLayout()->insertRow(0);
  plot.plotLayout()->addElement(0, 0, parts_->heading);
  plot.plotLayout()->setRowSpacing(0);
  plot.axisRect()->setMinimumMargins(QMargins(kLeft, 4, kRight, 4));

  parts_->bars = new StackedBars(plot.xAxis, plot.yAxis);
  parts_->bars->setData(&parts_->data);
  parts_->stages.reset(new QCPAxisTickerFixed);
  parts_->stages->setTickStep(1);
  parts_->stages->setScaleStrategy(QCPAxisTickerFixed::ssMultiples);
  plot.xAxis->setTicker(parts_->stages);
  plot.xAxis->setNumberFormat(QStringLiteral("f"));
  plot.xAxis->setNumberPrecision(0);
  plot.xAxis->setSubTicks(false);
  plot.xAxis->grid()->setVisible(false);
  plot.xAxis->setLabel(tr("pipeline stage"));
  plot.xAxis->setLabelPadding(2);
  plot.yAxis->setTicker(QSharedPointer<QCPAxisTicker>(new ValueTicker));
  plot.yAxis->setSubTicks(false);
  plot.yAxis->setTickLabelPadding(8);
  restyle();
}

StageChart::~StageChart() = default;

bool StageChart::ready() const { return parts_->data.stages() > 0; }
const BarData& StageChart::data() const { return parts_->data; }
int StageChart::selectedStage() const { return parts_->selected.stage; }
int StageChart::selectedSeries() const { return parts_->selected.series; }
int StageChart::selectedMember() const { return parts_->selected.member; }

void StageChart::setData(BarData data) {
  parts_->data = std::move(data);
  setAccessibleName(parts_->data.title);
  replot();
}

void StageChart::setSelectedItem(int stage, int series, int member) {
  if (series >= static_cast<int>(parts_->data.series.size())) series = kWholeStage;
  if (const BarHit now{stage, series, member}; std::exchange(parts_->selected, now) == now) return;
  setAccessibleDescription(QTextDocumentFragment::fromHtml(tipText(stage, series, member)).toPlainText());
  replot();
}

void StageChart::setMarked(int stage, std::vector<int> series, std::vector<BarMark> others) {
  if (stage == parts_->marked_stage && series == parts_->marked && others == parts_->others) return;
  parts_->marked_stage = stage;
  parts_->marked = std::move(series);
  parts_->others = std::move(others);
  replot();
}

const std::vector<int>& StageChart::marked() const { return parts_->marked; }
const std::vector<BarMark>& StageChart::markedComparedBars() const { return parts_->others; }

std::vector<BarMark> StageChart::marks() const {
  std::vector<BarMark> out = parts_->others;
  for (const int series : parts_->marked) out.push_back({0, parts_->marked_stage, series});
  return out;
}

QRectF StageChart::segmentRect(int stage, int series, int member) const {
  return parts_->bars->segment(stage, series, member).translated(parts_->plot->pos());
}

void StageChart::restyle() {
  const Colors& colors = Theme::instance().colors();
  QCustomPlot& plot = *parts_->plot;
  setGround(colors.ground);
  for (QCPAxis* axis : {plot.xAxis, plot.yAxis}) {
    axis->setTickLabelFont(Theme::instance().uiFont(11.5));
    axis->setLabelFont(Theme::instance().uiFont(11.5));
    axis->setTickLabelColor(colors.secondary);
    axis->setLabelColor(colors.secondary);
  }
  plot.xAxis->setTickPen(Qt::NoPen);
  plot.yAxis->setTickPen(Qt::NoPen);
  plot.xAxis->setBasePen(QPen(colors.line, 1));
  plot.yAxis->setBasePen(Qt::NoPen);
  plot.yAxis->grid()->setPen(QPen(colors.line, 1));
  plot.yAxis->grid()->setZeroLinePen(Qt::NoPen);
  replot();
}

void StageChart::setGround(const QColor& ground) const {
  parts_->plot->setBackground(QBrush(ground));
  parts_->bars->setGround(ground);
  parts_->heading->setGround(ground);
}

void StageChart::fitTicks(QSize size) const {
  const double longest = QFontMetricsF(parts_->plot->xAxis->tickLabelFont())
                             .horizontalAdvance(parts_->plot->locale().toString(parts_->data.most_stages()));
  const double room = std::max(kTickRoom, kTickRounding * (longest + kTickGap));
  parts_->stages->setTickCount(std::max(1, static_cast<int>((size.width() - kLeft - kRight) / room)));
  const int values = std::clamp(static_cast<int>(size.height() / kValueTickRoom), 4, 10);
  parts_->plot->yAxis->ticker()->setTickCount(values);
}

void StageChart::replot() {
  QCustomPlot& plot = *parts_->plot;
  const BarData& data = parts_->data;
  parts_->dirty = true;
  const bool anything = parts_->bars->tallest() > 0;
  plot.xAxis->setVisible(anything);
  plot.yAxis->setVisible(anything);
  plot.yAxis->grid()->setVisible(anything);
  plot.xAxis->setRange(-0.5, std::max(1, data.most_stages()) - 0.5);
  plot.yAxis->setRange(0, parts_->bars->top() / data.divisor * kHeadroom);
  fitTicks(plot.size());
  parts_->bars->setSelection(parts_->selected, marks(), hasFocus());
  if (!isVisible()) return;
  parts_->dirty = false;
  plot.replot(QCustomPlot::rpQueuedReplot);
}

QString StageChart::tipText(int stage, int series, int member) const {
  const BarData& data = parts_->data;
  if (stage < 0 || !data.text) return {};
  if (stage >= data.stages()) {  // only other designs have this stage
    if (member >= data.members() || stage >= data.stages(member) || series < 0) return {};
    return QStringLiteral("<b>%1</b>, %2<br>%3")
        .arg(escaped(data.series[static_cast<size_t>(series)].label), tr("stage %1").arg(stage),
             of_design(data.letter(member),
                       data.text(data.of(member)[static_cast<size_t>(stage)][static_cast<size_t>(series)])));
  }
  const double total = data.total(stage);
  const std::vector<double>& values = data.values[static_cast<size_t>(stage)];
  // The same of the compared designs.
  const auto others = [&](const auto& value_of, double now) {
    QString text;
    for (int member = 1; member < data.members(); ++member) {
      if (stage >= data.stages(member)) continue;
      const double value = value_of(member);
      text += QStringLiteral("<br>") + of_design(data.letter(member), data.text(value)) +
              (now > 0 ? tr(", %1").arg(signed_percent_text(value / now - 1)) : QString());
    }
    return text;
  };
  if (series < 0) {
    QString text = QStringLiteral("<b>%1</b>")
                       .arg(tr("Stage %1: %2").arg(QString::number(stage), data.text(total)));
    for (size_t part = values.size(); part-- > 0;) {
      if (values[part] < kLeastInTip * total || values[part] == 0) continue;
      text += QStringLiteral("<br>%1: %2").arg(escaped(data.series[part].label), data.text(values[part]));
    }
    return text + others([&](int member) { return data.total(stage, member); }, total);
  }
  const QString where = tr("stage %1").arg(stage);
  const double value = values[static_cast<size_t>(series)];
  return QStringLiteral("<b>%1</b>, %2<br>%3, %4")
             .arg(escaped(data.series[static_cast<size_t>(series)].label), where, data.text(value),
                  tr("%1 of the stage").arg(percent_text(total > 0 ? value / total : 0))) +
         others(
             [&](int member) {
               return data.of(member)[static_cast<size_t>(stage)][static_cast<size_t>(series)];
             },
             value);
}

void StageChart::paintOn(QPaintDevice& device, QSize size, double scale,
                         const std::function<void(QPainter&)>& more) const {
  QCustomPlot& plot = *parts_->plot;
  QCPPainter painter;
  if (!painter.begin(&device)) return;
  painter.setMode(QCPPainter::pmVectorized);
  painter.setMode(QCPPainter::pmNoCaching);
  painter.setMode(QCPPainter::pmNonCosmetic);
  painter.scale(scale, scale);
  parts_->heading->setTitleShown(true);
  parts_->bars->setSelection({}, {}, false);  // pictures show no selection
  setGround(Theme::instance().colors().panel);
  fitTicks(size);
  const QMargins margins = plot.plotLayout()->margins();
  plot.plotLayout()->setMargins(QMargins(16, 12, 16, 10));
  plot.toPainter(&painter, size.width(), size.height());
  plot.plotLayout()->setMargins(margins);
  setGround(Theme::instance().colors().ground);
  fitTicks(plot.size());
  parts_->heading->setTitleShown(false);
  parts_->bars->setSelection(parts_->selected, marks(), hasFocus());
  if (more) more(painter);
  painter.end();
  plot.replot(QCustomPlot::rpQueuedReplot);  // toPainter laid the elements out for its own size
}

QString StageChart::tipAt(const QPointF& at) const {
  const BarHit hit = parts_->bars->hit(at - parts_->plot->pos());
  return tipText(hit.stage, hit.series, hit.member);
}

void StageChart::click(const QPointF& at, Qt::KeyboardModifiers) {
  const BarHit hit = parts_->bars->hit(at - parts_->plot->pos());
  if (hit.member > 0)
    Q_EMIT comparedItemSelected(hit.member, hit.stage, hit.series);
  else if (hit.stage >= 0)
    Q_EMIT barSelected(hit.stage, hit.series);
}

int StageChart::nextSeries(int stage, int step) const {
  const std::vector<double>& values = parts_->data.values[static_cast<size_t>(stage)];
  const int count = static_cast<int>(values.size());
  int series = parts_->selected.series;
  if (series < 0 && step < 0) series = count;
  for (series += step; series >= 0 && series < count; series += step)
    if (values[static_cast<size_t>(series)] > 0) return series;
  return kWholeStage;
}

void StageChart::moveToDesign(int designs) {
  const BarData& data = parts_->data;
  const int member = parts_->selected.member + designs, series = parts_->selected.series,
            at = parts_->selected.stage;
  if (series < 0 || member < 0 || member >= data.members() || at >= data.stages(member) ||
      data.of(member)[static_cast<size_t>(at)][static_cast<size_t>(series)] <= 0)
    return;
  member == 0 ? Q_EMIT barSelected(at, series) : Q_EMIT comparedItemSelected(member, at, series);
}

bool StageChart::go(Way way, Qt::KeyboardModifiers) {
  const int last = parts_->data.stages() - 1, series = parts_->selected.series,
            stage = std::clamp(parts_->selected.stage, 0, last);
  switch (way) {
    case Way::Left: Q_EMIT barSelected(std::max(0, stage - 1), series); break;
    case Way::Right: Q_EMIT barSelected(std::min(last, stage + 1), series); break;
    case Way::First: Q_EMIT barSelected(0, series); break;
    case Way::Last: Q_EMIT barSelected(last, series); break;
    case Way::Up: Q_EMIT barSelected(stage, nextSeries(stage, +1)); break;
    case Way::Down: Q_EMIT barSelected(stage, nextSeries(stage, -1)); break;
    case Way::PageUp: moveToDesign(-1); break;
    case Way::PageDown: moveToDesign(1); break;
  }
  return true;
}

bool StageChart::activate() {
  Q_EMIT barSelected(std::clamp(parts_->selected.stage, 0, parts_->data.stages() - 1),
                     parts_->selected.series);
  return true;
}

void StageChart::focusInEvent(QFocusEvent* event) {
  QWidget::focusInEvent(event);
  replot();
}

void StageChart::focusOutEvent(QFocusEvent* event) {
  QWidget::focusOutEvent(event);
  replot();
}

void StageChart::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  replot();
}

void StageChart::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  if (parts_->dirty) replot();
}

}  // namespace shardscape::ui
