#include "ui/views/requests/bar_list.h"

#include <QPainter>
#include <algorithm>

#include "ui/toolkit/theme.h"

namespace shardscape::ui {
namespace {

constexpr double kMargin = 10, kLeastRow = 15, kMostRow = 26, kGap = 8;
constexpr double kLabelShare = 0.42;  // of the width, at most

}  // namespace

BarList::BarList(const QString& object_name, const QString& accessible_name, QWidget* parent)
    : BarRows(object_name, accessible_name, parent) {}

void BarList::setRows(const QString& title, std::vector<BarRow> rows) {
  title_ = title;
  rows_ = std::move(rows);
  setSelected(-1);
}

double BarList::rowHeight(double room) const {
  return std::clamp((room - kMargin) / std::max(1, count()), kLeastRow, kMostRow);
}

void BarList::paintRow(QPainter& painter, const QRectF& place, int at, double labels, double texts,
                       double most) const {
  const Colors& colors = Theme::instance().colors();
  const BarRow& bar = row(at);
  if (at == selected()) painter.fillRect(place, colors.accent_soft);
  painter.setPen(colors.text);
  painter.drawText(QRectF(place.left(), place.top(), labels, place.height()),
                   Qt::AlignVCenter | Qt::AlignRight,
                   QFontMetricsF(painter.font()).elidedText(bar.label, Qt::ElideMiddle, labels));
  const double left = place.left() + labels + kGap, room = place.right() - left - texts - kGap;
  const double width = most > 0 ? std::max(0.0, room) * bar.value / most : 0;
  painter.fillRect(QRectF(left, place.top() + 3, width, place.height() - 6),
                   bar.good ? colors.accent : colors.note);
  painter.drawText(QRectF(left + width + kGap / 2, place.top(), texts + kGap, place.height()),
                   Qt::AlignVCenter, bar.text);
}

void BarList::paint(QPainter& painter, const QRectF& rect, const QColor&) const {
  painter.setFont(Theme::instance().uiFont(11));
  const QFontMetricsF metrics(painter.font());
  const int shown = shownIn(rect);
  painter.setPen(Theme::instance().colors().secondary);
  painter.drawText(
      QRectF(rect.left() + kMargin, rect.top(), rect.width(), kHeading), Qt::AlignVCenter,
      shown < count() ? tr("%1, the first %2 of %3").arg(title_).arg(shown).arg(count()) : title_);
  double labels = 0, texts = 0, most = 0;
  for (const BarRow& row : rows_) {
    labels = std::max(labels, metrics.horizontalAdvance(row.label));
    texts = std::max(texts, metrics.horizontalAdvance(row.text));
    most = std::max(most, row.value);
  }
  labels = std::min(labels, rect.width() * kLabelShare);
  for (int i = 0; i < shown; ++i)
    paintRow(painter, rowIn(rect, i).adjusted(kMargin, 0, -kMargin, 0), i, labels, texts, most);
}

}  // namespace shardscape::ui
