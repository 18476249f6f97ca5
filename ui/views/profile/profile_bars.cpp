#include "ui/views/profile/profile_bars.h"

#include <QPainter>
#include <algorithm>

#include "ui/plot/plot_panel.h"
#include "ui/toolkit/contrast.h"
#include "ui/toolkit/theme.h"
#include "ui/views/profile/profile_models.h"

namespace shardscape::ui {
namespace {

constexpr double kMargin = 10, kLeastRow = 18, kMostRow = 34, kGap = 8, kLabelShare = 0.3;

QColor predicted_ink() {
  const Colors& colors = Theme::instance().colors();
  return mixed(colors.ground, colors.secondary, 0.6);
}

}  // namespace

ProfileBars::ProfileBars(QWidget* parent)
    : BarRows(QStringLiteral("profile_bars"), tr("Parts of the step, measured and predicted"), parent) {}

void ProfileBars::setParts(std::vector<ComparedTime> parts, bool predicted) {
  parts_ = std::move(parts);
  predicted_ = predicted;
  setSelected(selected());
}

double ProfileBars::rowHeight(double room) const {
  return std::clamp((room - kMargin) / std::max(1, count()), kLeastRow, kMostRow);
}

QString ProfileBars::rowTip(int at) const {
  const ComparedTime& part = parts_[static_cast<size_t>(at)];
  QString out = tr("%1: %2 measured").arg(QString::fromStdString(part.label), time_text(part.measured));
  if (predicted_)
    out += tr(", %1 predicted, %2").arg(time_text(part.predicted), difference_text(part.difference()));
  return out;
}

void ProfileBars::paintRow(QPainter& painter, const QRectF& place, int at, double labels, double texts,
                           double most) const {
  const Colors& colors = Theme::instance().colors();
  const ComparedTime& part = parts_[static_cast<size_t>(at)];
  if (at == selected()) painter.fillRect(place, colors.accent_soft);
  painter.setPen(colors.text);
  painter.drawText(
      QRectF(place.left(), place.top(), labels, place.height()), Qt::AlignVCenter | Qt::AlignRight,
      QFontMetricsF(painter.font()).elidedText(QString::fromStdString(part.label), Qt::ElideRight, labels));
  const double left = place.left() + labels + kGap;
  const double room = std::max(1.0, place.right() - left - texts - kGap);
  const double width = most > 0 ? room / most : 0;
  const double half = predicted_ ? (place.height() - 5) / 2 : place.height() - 6;
  const QRectF measured(left, place.top() + 2.5, part.measured * width, half);
  painter.fillRect(measured, colors.accent);
  if (predicted_)
    painter.fillRect(QRectF(left, measured.bottom(), part.predicted * width, half), predicted_ink());
  const double end = left + std::max(part.measured, predicted_ ? part.predicted : 0) * width + kGap / 2;
  painter.drawText(QRectF(end, place.top(), texts + kGap, place.height()), Qt::AlignVCenter,
                   predicted_ ? difference_text(part.difference()) : time_text(part.measured));
}

void ProfileBars::paint(QPainter& painter, const QRectF& rect, const QColor&) const {
  painter.setFont(Theme::instance().uiFont(11));
  const QFontMetricsF metrics(painter.font());
  const Colors& colors = Theme::instance().colors();
  const int shown = shownIn(rect);
  painter.setPen(colors.secondary);
  QString title = predicted_ ? tr("Time of a step, largest difference first") : tr("Time of a step");
  if (shown < count()) title += tr(", the first %1 of %2").arg(shown).arg(count());
  painter.drawText(QRectF(rect.left() + kMargin, rect.top(), rect.width(), kHeading), Qt::AlignVCenter,
                   title);
  if (predicted_)
    paint_legend(painter, {{tr("measured"), colors.accent}, {tr("predicted"), predicted_ink()}},
                 rect.right() - kMargin, rect.top() + kHeading / 2);
  double labels = 0, texts = 0, most = 0;
  for (const ComparedTime& part : parts_) {
    labels = std::max(labels, metrics.horizontalAdvance(QString::fromStdString(part.label)));
    texts = std::max(texts, metrics.horizontalAdvance(predicted_ ? difference_text(part.difference())
                                                                 : time_text(part.measured)));
    most = std::max({most, part.measured, predicted_ ? part.predicted : 0});
  }
  labels = std::min(labels, rect.width() * kLabelShare);
  for (int i = 0; i < shown; ++i)
    paintRow(painter, rowIn(rect, i).adjusted(kMargin, 0, -kMargin, 0), i, labels, texts, most);
}

}  // namespace shardscape::ui
