#include "ui/views/trace/neighbour_canvas.h"

#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <cmath>
#include <map>

#include "ui/toolkit/contrast.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/value_scale.h"
#include "ui/views/trace/trace_models.h"

namespace shardscape::ui {
namespace {

constexpr double kHeading = 26, kMargin = 10, kLeastRow = 30, kMostRow = 44, kGap = 6, kWheelLine = 44;
constexpr double kLeastColumn = 110;  // pixels: narrower pictures show direct neighbours only
constexpr double kAround = 22;        // pixels
constexpr double kBetween = 0.22;     // of a column's width: the room for lines

QColor kind_color(const std::string& kind) {
  const Colors& colors = Theme::instance().colors();
  if (kind.find("COMP") != std::string::npos) return colors.parameters;
  if (kind.find("COMM") != std::string::npos) return colors.communication;
  if (kind.find("MEM") != std::string::npos) return colors.buffers;
  return colors.idle;
}

}  // namespace

NeighbourCanvas::NeighbourCanvas(QWidget* parent)
    : Canvas(QStringLiteral("trace_neighbours"), tr("Nodes around a node"), parent) {
  setMessage(tr("Choose a node in the table."));
}

void NeighbourCanvas::clearNodes() {
  boxes_.clear();
  selected_ = hovered_ = -1;
  update();
}

void NeighbourCanvas::setNodes(const Neighbourhood& nodes) {
  std::map<int, std::vector<const NeighbourNode*>> columns{{0, {&nodes.centre}}};
  for (const NeighbourNode& node : nodes.others) columns[node.distance].push_back(&node);
  boxes_ = {{nodes.centre.node}};
  rows_.clear();
  steps_.clear();
  std::map<uint64_t, int> known;
  std::vector<const NeighbourNode*> of{&nodes.centre};
  for (const auto& [distance, column] : columns) {
    const auto at = static_cast<int>(rows_.size());
    if (distance == 0) boxes_.front().column = at;
    for (size_t row = 0; distance != 0 && row < column.size(); ++row) {
      boxes_.push_back({column[row]->node, at, static_cast<int>(row)});
      of.push_back(column[row]);
    }
    rows_.push_back(static_cast<int>(column.size()));
    steps_.push_back(distance);
  }
  for (size_t i = 0; i < of.size(); ++i) known.emplace(of[i]->node.id, static_cast<int>(i));
  for (size_t i = 0; i < of.size(); ++i)
    for (const uint64_t id : of[i]->depends_on)
      if (const auto box = known.find(id); box != known.end()) boxes_[i].depends_on.push_back(box->second);
  left_out_ = nodes.left_out;
  hovered_ = -1;
  scrolled_ = 0;
  choose(0);
}

double NeighbourCanvas::rowHeight(const QRectF& rect) const {
  const int most = *std::max_element(rows_.begin(), rows_.end());
  return std::clamp((rect.height() - kHeading - kMargin) / most, kLeastRow, kMostRow);
}

std::pair<int, int> NeighbourCanvas::columnsIn(const QRectF& rect) const {
  const auto all = static_cast<int>(rows_.size());
  if (rect.width() >= kLeastColumn * all) return {0, all};
  int first = 0, last = all - 1;
  while (steps_[static_cast<size_t>(first)] < -1) ++first;
  while (steps_[static_cast<size_t>(last)] > 1) --last;
  return {first, last - first + 1};
}

QRectF NeighbourCanvas::boxIn(const QRectF& rect, int at) const {
  const Box& box = boxes_[static_cast<size_t>(at)];
  const auto [first, columns] = columnsIn(rect);
  if (box.column < first || box.column >= first + columns) return {};
  const double column = (rect.width() - 2 * kMargin) / columns;
  const double row = rowHeight(rect), room = rect.height() - kHeading - kMargin;
  const double all = row * rows_[static_cast<size_t>(box.column)];
  const double top = all < room ? (room - all) / 2 : -std::min(scrolled_, all - room);
  return {rect.left() + kMargin + column * (box.column - first + kBetween / 2),
          rect.top() + kHeading + top + row * box.row, column * (1 - kBetween), row - kGap};
}

void NeighbourCanvas::paintLines(QPainter& painter, const QRectF& rect) const {
  const Colors& colors = Theme::instance().colors();
  painter.setBrush(Qt::NoBrush);
  for (size_t i = 0; i < boxes_.size(); ++i)
    for (const int from : boxes_[i].depends_on) {
      const bool marked = static_cast<int>(i) == selected_ || from == selected_;
      painter.setPen(
          QPen(marked ? colors.accent : mixed(colors.ground, colors.secondary, 0.45), marked ? 1.8 : 1));
      const QRectF a = boxIn(rect, from), b = boxIn(rect, static_cast<int>(i));
      if (a.isEmpty() || b.isEmpty()) continue;
      // Inside a column, the line goes around the boxes.
      const bool around = boxes_[i].column == boxes_[static_cast<size_t>(from)].column;
      const QPointF begin(a.right(), a.center().y()), end(around ? b.right() : b.left(), b.center().y());
      const double bend = around ? kAround : std::max(12.0, std::abs(end.x() - begin.x()) / 2);
      QPainterPath path(begin);
      path.cubicTo(begin + QPointF(bend, 0), end + QPointF(around ? bend : -bend, 0), end);
      painter.drawPath(path);
    }
}

void NeighbourCanvas::paintBox(QPainter& painter, const QRectF& rect, int at) const {
  const Colors& colors = Theme::instance().colors();
  const QRectF box = boxIn(rect, at);
  if (box.isEmpty() || box.bottom() < rect.top() + kHeading || box.top() > rect.bottom()) return;
  const FoundNode& of = node(at);
  painter.setPen(QPen(at == selected_ ? colors.accent : colors.line, at == selected_ ? 2 : 1));
  painter.setBrush(at == selected_ || at == hovered_ ? colors.accent_soft : colors.panel);
  painter.drawRoundedRect(box, 4, 4);
  painter.fillRect(QRectF(box.left() + 1, box.top() + 3, 4, box.height() - 6), kind_color(of.kind));
  const QRectF inside = box.adjusted(10, 1, -6, -1);
  const bool two = inside.height() >= 30;
  const auto line = [&](const QRectF& where, const QString& what, double size, const QColor& ink) {
    painter.setFont(Theme::instance().uiFont(size));
    painter.setPen(ink);
    painter.drawText(where, Qt::AlignVCenter | Qt::AlignLeft,
                     QFontMetricsF(painter.font()).elidedText(what, Qt::ElideMiddle, where.width()));
  };
  const QRectF upper(inside.left(), inside.top(), inside.width(),
                     two ? inside.height() / 2 : inside.height());
  line(upper, QStringLiteral("%1  %2").arg(of.id).arg(text_of(of.name)), 11.5, colors.text);
  if (two)
    line(upper.translated(0, upper.height()), of.work.empty() ? text_of(of.kind) : text_of(of.work), 10.5,
         colors.secondary);
}

void NeighbourCanvas::paint(QPainter& painter, const QRectF& rect, const QColor& ground) const {
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setClipRect(rect);
  paintLines(painter, rect);
  for (int i = 0; i < count(); ++i) paintBox(painter, rect, i);
  painter.fillRect(QRectF(rect.left(), rect.top(), rect.width(), kHeading - 2), ground);
  painter.setFont(Theme::instance().uiFont(11));
  painter.setPen(Theme::instance().colors().secondary);
  const auto [first, columns] = columnsIn(rect);
  const double column = (rect.width() - 2 * kMargin) / columns;
  for (int i = first; i < first + columns; ++i) {
    const int steps = steps_[static_cast<size_t>(i)];
    QString heading = steps == 0  ? tr("node")
                      : steps < 0 ? tr("depends on (%1)").arg(rows_[static_cast<size_t>(i)])
                                  : tr("needed by (%1)").arg(rows_[static_cast<size_t>(i)]);
    if (std::abs(steps) > 1) heading += tr(", %1 steps").arg(std::abs(steps));
    painter.drawText(QRectF(rect.left() + kMargin + column * (i - first), rect.top(), column, kHeading),
                     Qt::AlignCenter,
                     QFontMetricsF(painter.font()).elidedText(heading, Qt::ElideRight, column - kGap));
  }
  if (left_out_ > 0)
    painter.drawText(rect.adjusted(kMargin, 0, -kMargin, -2), Qt::AlignRight | Qt::AlignBottom,
                     tr("more nodes are left out"));
  painter.restore();
}

QString NeighbourCanvas::text(const FoundNode& node) const {
  QString out = tr("Node %1, %2\n%3").arg(node.id).arg(text_of(node.kind), text_of(node.name));
  if (!node.work.empty()) out += u'\n' + text_of(node.work);
  if (node.microseconds > 0) out += u'\n' + trace_duration_text(static_cast<Wide>(node.microseconds));
  return out;
}

int NeighbourCanvas::boxAt(const QPointF& at) const {
  if (at.y() < kHeading) return -1;
  for (int i = 0; i < count(); ++i)
    if (boxRect(i).contains(at)) return i;
  return -1;
}

QString NeighbourCanvas::tipAt(const QPointF& at) const {
  const int box = boxAt(at);
  return box < 0 ? QString() : text(node(box));
}

bool NeighbourCanvas::hover(const QPointF& at, bool) {
  const int before = std::exchange(hovered_, boxAt(at));
  if (before != hovered_) update();
  return hovered_ >= 0;
}

void NeighbourCanvas::leave() {
  hovered_ = -1;
  update();
}

void NeighbourCanvas::choose(int at) {
  selected_ = at;
  setAccessibleDescription(at >= 0 ? text(node(at)) : QString());
  update();
}

void NeighbourCanvas::click(const QPointF& at, Qt::KeyboardModifiers) { choose(boxAt(at)); }

void NeighbourCanvas::doubleClick(const QPointF& at) {
  choose(boxAt(at));
  activate();
}

void NeighbourCanvas::wheel(const QPointF& notches, Qt::KeyboardModifiers, const QPointF&) {
  const int most = *std::max_element(rows_.begin(), rows_.end());
  const double reach = rowHeight(QRectF(rect())) * most - (height() - kHeading - kMargin);
  scrolled_ = std::clamp(scrolled_ - notches.y() * kWheelLine, 0.0, std::max(0.0, reach));
  update();
}

// The nearest box of the next column, or the next of the same column.
int NeighbourCanvas::neighbour(Way way) const {
  const Box& from = boxes_[static_cast<size_t>(selected_)];
  const bool sideways = way == Way::Left || way == Way::Right;
  const int by = way == Way::Left || way == Way::Up ? -1 : 1;
  int best = -1;
  double nearest = 1e9;
  for (int i = 0; i < count(); ++i) {
    const Box& box = boxes_[static_cast<size_t>(i)];
    if (boxRect(i).isEmpty()) continue;
    if (sideways ? box.column != from.column + by : box.column != from.column || box.row != from.row + by)
      continue;
    const double away = std::abs(boxRect(i).center().y() - boxRect(selected_).center().y());
    if (away < nearest) {
      nearest = away;
      best = i;
    }
  }
  return best;
}

bool NeighbourCanvas::go(Way way, Qt::KeyboardModifiers) {
  if (way == Way::PageUp || way == Way::PageDown) return false;
  if (selected_ < 0 || way == Way::First || way == Way::Last)
    choose(0);
  else if (const int next = neighbour(way); next >= 0)
    choose(next);
  return true;
}

bool NeighbourCanvas::activate() {
  if (selected_ >= 0) Q_EMIT centreRequested(node(selected_).id);
  return selected_ >= 0;
}

bool NeighbourCanvas::clear() {
  if (selected_ < 0) return false;
  choose(-1);
  return true;
}

}  // namespace shardscape::ui
