#include "ui/explore/pair_bars.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "ui/models/value_scale.h"
#include "ui/theme/contrast.h"
#include "ui/theme/theme.h"

namespace shardscape::ui {
namespace {

constexpr double kRow = 30, kBar = 8, kTitle = 24, kBetween = 28, kLabel = 150, kValue = 66;
// Groups that are drawn: parts of a whole, with one unit.
constexpr const char* kDrawn[] = {"Where the step goes, mean over stages", "Memory of the fullest rank"};

bool drawn(const ComparedFigure& figure) {
  return std::any_of(std::begin(kDrawn), std::end(kDrawn), [&](const char* group) { return figure.group == group; });
}

}  // namespace

QString figure_text(FigureKind kind, double value, UnitSystem units) {
  if (std::isnan(value)) return QStringLiteral("-");
  const QString sign = value < 0 ? QStringLiteral("-") : QString();
  const double size = std::fabs(value);
  switch (kind) {
    case FigureKind::Seconds: return sign + QString::fromStdString(format_seconds(size));
    case FigureKind::Bytes: return sign + bytes_text(static_cast<Wide>(std::llround(size)), units);
    case FigureKind::Share: return sign + percent_text(size);
    case FigureKind::Rate: return sign + (size >= 10000 ? grouped_text(static_cast<Wide>(std::llround(size))) : QString::fromStdString(significant(size, 4)));
    case FigureKind::Count: return sign + grouped_text(static_cast<Wide>(std::llround(size)));
  }
  return {};
}

PairBars::PairBars(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("pair_bars"));
  setAccessibleName(tr("Two designs: where the step goes, and what memory holds"));
  connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void PairBars::setFigures(std::vector<ComparedFigure> figures, UnitSystem units) {
  figures_ = std::move(figures);
  units_ = units;
  groups_.clear();
  for (const ComparedFigure& figure : figures_)
    if (const QString group = QString::fromStdString(figure.group); drawn(figure) && !groups_.contains(group)) groups_ << group;
  updateGeometry();
  update();
}

std::vector<PairBars::Row> PairBars::rows() const { return rowsIn(QRectF(rect())); }

std::vector<PairBars::Row> PairBars::rowsIn(const QRectF& rect) const {
  std::vector<Row> rows;
  const auto columns = std::max<qsizetype>(1, groups_.size());
  const double wide = (rect.width() - kBetween * static_cast<double>(columns - 1)) / static_cast<double>(columns);
  const double label = std::min(kLabel, wide * 0.36), track = std::max(20.0, wide - label - kValue - 12);
  for (int g = 0; g < groups_.size(); ++g) {
    double most = 0;
    for (const ComparedFigure& figure : figures_)
      if (QString::fromStdString(figure.group) == groups_[g])
        for (double value : figure.values) most = std::max(most, std::isnan(value) ? 0 : value);
    double y = rect.top() + kTitle;
    const double left = rect.left() + g * (wide + kBetween) + label + 6;
    for (size_t f = 0; f < figures_.size(); ++f) {
      if (QString::fromStdString(figures_[f].group) != groups_[g]) continue;
      const auto bar = [&](size_t design, double top) {
        const double value = design < figures_[f].values.size() ? figures_[f].values[design] : 0;
        return QRectF(left, top, most > 0 && !std::isnan(value) ? std::max(value > 0 ? 1.0 : 0.0, track * value / most) : 0, kBar);
      };
      rows.push_back({g, static_cast<int>(f), bar(0, y + 5), bar(1, y + 6 + kBar)});
      y += kRow;
    }
  }
  return rows;
}

int PairBars::heightFor(int) const {
  int most = 0;
  for (const QString& group : groups_)
    most = std::max(most, static_cast<int>(std::count_if(figures_.begin(), figures_.end(), [&](const ComparedFigure& f) { return QString::fromStdString(f.group) == group; })));
  return static_cast<int>(kTitle + most * kRow + 4);
}

void PairBars::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  paint(painter, QRectF(rect()), Theme::instance().colors().ground);
}

void PairBars::paint(QPainter& painter, const QRectF& rect, const QColor& ground) const {
  const Colors& colors = Theme::instance().colors();
  const QFont small = Theme::instance().uiFont(11), plain = Theme::instance().uiFont(12), strong = Theme::instance().uiFont(12, QFont::DemiBold);
  const QFontMetricsF metrics(plain), small_metrics(small);
  const auto columns = std::max<qsizetype>(1, groups_.size());
  const double wide = (rect.width() - kBetween * static_cast<double>(columns - 1)) / static_cast<double>(columns), label = std::min(kLabel, wide * 0.36);
  painter.save();
  for (int g = 0; g < groups_.size(); ++g) {
    painter.setFont(strong);
    painter.setPen(colors.text);
    painter.drawText(QRectF(rect.left() + g * (wide + kBetween), rect.top(), wide, kTitle - 4), Qt::AlignLeft | Qt::AlignVCenter, metrics.elidedText(groups_[g], Qt::ElideRight, wide));
  }
  painter.setRenderHint(QPainter::Antialiasing);
  for (const Row& row : rowsIn(rect)) {
    const ComparedFigure& figure = figures_[static_cast<size_t>(row.figure)];
    const double left = rect.left() + row.group * (wide + kBetween);
    painter.setFont(plain);
    painter.setPen(colors.text);
    painter.drawText(QRectF(left, row.first.top(), label, 2 * kBar + 1), Qt::AlignLeft | Qt::AlignVCenter,
                     metrics.elidedText(QString::fromStdString(figure.label), Qt::ElideRight, label));
    painter.setPen(Qt::NoPen);
    painter.setBrush(mixed(ground, colors.secondary, 0.5));
    painter.drawRect(row.first);
    painter.setBrush(colors.accent);
    painter.drawRect(row.second);
    painter.setFont(small);
    for (const size_t design : {size_t{0}, size_t{1}}) {
      if (design >= figure.values.size()) continue;
      const QRectF& bar = design == 0 ? row.first : row.second;
      painter.setPen(design == 0 ? colors.secondary : colors.text);
      painter.drawText(QPointF(bar.right() + 5, bar.center().y() + 4), figure_text(figure.kind, figure.values[design], units_));
    }
  }
  painter.restore();
}

bool PairBars::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    const QPointF at = help->pos();
    for (const Row& row : rows()) {
      const double half = width() / std::max<double>(1, static_cast<double>(groups_.size()));
      if (static_cast<int>(at.x() / half) != row.group || at.y() < row.first.top() - 5 || at.y() > row.second.bottom() + 5) continue;
      const ComparedFigure& figure = figures_[static_cast<size_t>(row.figure)];
      if (figure.values.size() < 2) break;
      QToolTip::showText(help->globalPos(),
                         tr("%1: %2 and %3, %4").arg(QString::fromStdString(figure.label), figure_text(figure.kind, figure.values[0], units_), figure_text(figure.kind, figure.values[1], units_),
                                                     QString::fromStdString(figure.percent(1))), this);
      return true;
    }
    QToolTip::hideText();
    return true;
  }
  return QWidget::event(event);
}

}  // namespace shardscape::ui
