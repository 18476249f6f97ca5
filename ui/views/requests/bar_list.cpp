#include "ui/views/requests/bar_list.h"

#include <QPainter>
#include <algorithm>

#include "ui/toolkit/theme.h"

namespace shardscape::ui {
namespace {

constexpr double kTitle = 24, kMargin = 10, kLeastRow = 15, kMostRow = 26, kGap = 8;
constexpr double kLabelShare = 0.42;  // of the width, at most

}  // namespace

BarList::BarList(const QString& object_name, const QString& accessible_name, QWidget* parent)
    : Canvas(object_name, accessible_name, parent) {}

void BarList::setRows(const QString& title, std::vector<BarRow> rows) {
  title_ = title;
  rows_ = std::move(rows);
  setSelected(-1);
}

void BarList::setSelected(int at) {
  selected_ = at < rows() ? at : -1;
  setAccessibleDescription(selected_ >= 0 ? row(selected_).label + QStringLiteral(": ") + row(selected_).text
                                          : QString());
  update();
}

void BarList::select(int at) {
  setSelected(at);
  Q_EMIT rowSelected(selected_);
}

QRectF BarList::rowIn(const QRectF& rect, int at) const {
  const double room = rect.height() - kTitle - kMargin;
  const double height = std::clamp(room / std::max(1, rows()), kLeastRow, kMostRow);
  const QRectF out(rect.left() + kMargin, rect.top() + kTitle + at * height, rect.width() - 2 * kMargin,
                   height);
  return out.bottom() > rect.bottom() ? QRectF() : out;
}

QRectF BarList::place(int at) const { return rowIn(QRectF(rect()), at); }

int BarList::rowAt(const QPointF& at) const {
  for (int i = 0; i < rows(); ++i)
    if (place(i).contains(at)) return i;
  return -1;
}

void BarList::paint(QPainter& painter, const QRectF& rect, const QColor&) const {
  const Colors& colors = Theme::instance().colors();
  painter.setFont(Theme::instance().uiFont(11));
  const QFontMetricsF metrics(painter.font());
  painter.setPen(colors.secondary);
  painter.drawText(QRectF(rect.left() + kMargin, rect.top(), rect.width(), kTitle), Qt::AlignVCenter, title_);
  double labels = 0, texts = 0, most = 0;
  for (const BarRow& row : rows_) {
    labels = std::max(labels, metrics.horizontalAdvance(row.label));
    texts = std::max(texts, metrics.horizontalAdvance(row.text));
    most = std::max(most, row.value);
  }
  labels = std::min(labels, rect.width() * kLabelShare);
  for (int i = 0; i < rows(); ++i) {
    const QRectF place = rowIn(rect, i);
    if (place.isEmpty()) break;
    if (i == selected_) painter.fillRect(place, colors.accent_soft);
    painter.setPen(colors.text);
    painter.drawText(QRectF(place.left(), place.top(), labels, place.height()),
                     Qt::AlignVCenter | Qt::AlignRight,
                     metrics.elidedText(row(i).label, Qt::ElideMiddle, labels));
    const double left = place.left() + labels + kGap, room = place.right() - left - texts - kGap;
    const double width = most > 0 ? std::max(0.0, room) * row(i).value / most : 0;
    painter.fillRect(QRectF(left, place.top() + 3, width, place.height() - 6),
                     row(i).good ? colors.accent : colors.note);
    painter.drawText(QRectF(left + width + kGap / 2, place.top(), texts + kGap, place.height()),
                     Qt::AlignVCenter, row(i).text);
  }
}

QString BarList::tipAt(const QPointF& at) const {
  const int i = rowAt(at);
  return i < 0 ? QString() : row(i).label + QStringLiteral(": ") + row(i).text;
}

void BarList::click(const QPointF& at, Qt::KeyboardModifiers) { select(rowAt(at)); }

void BarList::doubleClick(const QPointF& at) {
  if (const int i = rowAt(at); i >= 0) Q_EMIT rowActivated(i);
}

bool BarList::go(Way way, Qt::KeyboardModifiers) {
  const int last = rows() - 1;
  switch (way) {
    case Way::Up: select(selected_ < 0 ? last : std::max(0, selected_ - 1)); return true;
    case Way::Down: select(std::min(last, selected_ + 1)); return true;
    case Way::First: select(0); return true;
    case Way::Last: select(last); return true;
    case Way::Left:
    case Way::Right:
    case Way::PageUp:
    case Way::PageDown: break;
  }
  return false;
}

bool BarList::activate() {
  if (selected_ >= 0) Q_EMIT rowActivated(selected_);
  return true;
}

bool BarList::clear() {
  select(-1);
  return true;
}

}  // namespace shardscape::ui
