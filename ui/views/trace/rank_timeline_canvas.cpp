#include "ui/views/trace/rank_timeline_canvas.h"

#include <QPainter>
#include <algorithm>
#include <cmath>

#include "ui/plot/axis_paint.h"
#include "ui/toolkit/contrast.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

constexpr double kLeft = 108, kTop = 10, kRight = 14, kBottom = 24, kThickest = 34, kTicksApart = 70;
constexpr double kLeastBar = 1, kLeastText = 34;  // pixels
constexpr double kSecond = 1e9;                   // ns
constexpr double kLeastSpan = 1e-7;               // of the whole

QColor span_ink(chakra::NodeType type) {
  const Colors& colors = Theme::instance().colors();
  switch (type) {
    case chakra::NodeType::Comp: return colors.parameters;
    case chakra::NodeType::Coll: return colors.communication;
    case chakra::NodeType::Send:
    case chakra::NodeType::Recv: return colors.kv_cache;
    case chakra::NodeType::MemLoad:
    case chakra::NodeType::MemStore: return colors.buffers;
    case chakra::NodeType::Invalid:
    case chakra::NodeType::Metadata: break;
  }
  return colors.idle;
}

}  // namespace

RankTimelineCanvas::RankTimelineCanvas(QWidget* parent)
    : TimeCanvas(QStringLiteral("trace_timeline"), tr("Nodes of a rank over time"), parent) {}

void RankTimelineCanvas::setTimeline(std::shared_ptr<const RankTimeline> timeline) {
  timeline_ = std::move(timeline);
  selected_ = -1;
  tracks_.assign(timeline_ ? static_cast<size_t>(timeline_->tracks) : 0, {});
  for (int i = 0; timeline_ && i < static_cast<int>(timeline_->spans.size()); ++i) {
    Track& track = tracks_[static_cast<size_t>(span(i).track)];
    const int64_t before = track.latest_end.empty() ? 0 : track.latest_end.back();
    track.spans.push_back(i);
    track.latest_end.push_back(std::max(before, span(i).span.end));
  }
  if (timeline_ && timeline_->spans.empty()) setMessage(tr("No node of the rank ran."));
  fit();
}

double RankTimelineCanvas::whole() const {
  return timeline_ ? std::max(1.0, static_cast<double>(timeline_->simulation.cycles())) : 1;
}

void RankTimelineCanvas::fit() {
  from_ = 0;
  to_ = whole();
  update();
}

void RankTimelineCanvas::keepInReach() {
  const double length = std::clamp(to_ - from_, std::max(1.0, whole() * kLeastSpan), whole());
  from_ = std::clamp(from_, 0.0, whole() - length);
  to_ = from_ + length;
  update();
}

QRectF RankTimelineCanvas::plotIn(const QRectF& rect) const {
  const double rows = ready() ? kThickest * timeline_->tracks : kThickest;
  return {rect.left() + kLeft, rect.top() + kTop, std::max(1.0, rect.width() - kLeft - kRight),
          std::max(1.0, std::min(rows, rect.height() - kTop - kBottom))};
}

QRectF RankTimelineCanvas::spanIn(const QRectF& plot, int at) const {
  const TimelineSpan& of = span(at);
  const double row = plot.height() / timeline_->tracks, pixel = plot.width() / (to_ - from_);
  const double left = plot.left() + (static_cast<double>(of.span.begin) - from_) * pixel;
  const double width = static_cast<double>(of.span.end - of.span.begin) * pixel;
  return {left, plot.top() + row * of.track + 2, std::max(kLeastBar, width), row - 4};
}

// Spans that share a pixel are drawn once.
void RankTimelineCanvas::paintTrack(QPainter& painter, const QRectF& plot, int track) const {
  const Colors& colors = Theme::instance().colors();
  painter.setFont(Theme::instance().uiFont(11));
  const QFontMetricsF metrics(painter.font());
  double drawn = -1;
  const auto& [spans, latest_end] = tracks_[static_cast<size_t>(track)];
  const auto first = std::partition_point(latest_end.begin(), latest_end.end(),
                                          [&](int64_t end) { return static_cast<double>(end) < from_; });
  for (auto k = static_cast<size_t>(first - latest_end.begin()); k < spans.size(); ++k) {
    const int i = spans[k];
    const TimelineSpan& of = span(i);
    if (static_cast<double>(of.span.end) < from_) continue;
    if (static_cast<double>(of.span.begin) > to_) break;
    const QRectF box = spanIn(plot, i).intersected(plot);
    if (box.right() <= drawn && i != selected_) continue;
    drawn = std::floor(box.right());
    const QColor ink = span_ink(of.span.type);
    painter.fillRect(box, i == selected_ ? colors.accent : ink);
    if (box.width() < kLeastText) continue;
    painter.setPen(mixed(ink, colors.line, 0.5));
    painter.drawRect(box.adjusted(0.5, 0.5, -0.5, -0.5));
    painter.setPen(contrast(Qt::white, ink) > contrast(Qt::black, ink) ? Qt::white : Qt::black);
    painter.drawText(box.adjusted(4, 0, -4, 0), Qt::AlignVCenter | Qt::AlignLeft,
                     metrics.elidedText(text_of(of.name), Qt::ElideRight, box.width() - 8));
  }
}

void RankTimelineCanvas::paint(QPainter& painter, const QRectF& rect, const QColor&) const {
  if (!ready()) return;
  const Colors& colors = Theme::instance().colors();
  const QRectF plot = plotIn(rect);
  painter.setFont(Theme::instance().uiFont(11));
  const ValueScale unit = seconds_scale((to_ - from_) / kSecond);
  paint_x_axis(painter, linear_scale(from_ / kSecond, to_ / kSecond, unit.divisor), plot, kTicksApart);
  painter.setPen(colors.secondary);
  painter.drawText(QRectF(rect.left(), plot.bottom() + 4, kLeft - 8, 16), Qt::AlignRight, unit.unit);
  const double row = plot.height() / timeline_->tracks;
  for (int track = 0; track < timeline_->tracks; ++track) {
    painter.setPen(colors.secondary);
    painter.setFont(Theme::instance().uiFont(11));
    painter.drawText(QRectF(rect.left(), plot.top() + row * track, kLeft - 8, row),
                     Qt::AlignRight | Qt::AlignVCenter, text_of(track_name(track)));
    painter.save();
    painter.setClipRect(plot);
    paintTrack(painter, plot, track);
    painter.restore();
  }
}

QString RankTimelineCanvas::text(int at) const {
  const TimelineSpan& of = span(at);
  return tr("%1\nnode %2, %3 from %4")
      .arg(text_of(of.name))
      .arg(of.span.node)
      .arg(seconds_text(static_cast<double>(of.span.end - of.span.begin) / kSecond),
           seconds_text(static_cast<double>(of.span.begin) / kSecond));
}

int RankTimelineCanvas::spanAt(const QPointF& at) const {
  if (!ready()) return -1;
  const QRectF plot = plotArea();
  // The times under the point; a bar is at least a pixel wide.
  const double pixel = (to_ - from_) / plot.width(), ns = from_ + (at.x() - plot.left()) * pixel;
  const double earliest = ns - (kLeastBar + 2) * pixel, latest = ns + 2 * pixel;
  int best = -1;
  for (const auto& [spans, latest_end] : tracks_) {
    const auto after = std::partition_point(
        spans.begin(), spans.end(), [&](int i) { return static_cast<double>(span(i).span.begin) <= latest; });
    for (auto k = static_cast<size_t>(after - spans.begin()); k-- > 0;) {
      if (static_cast<double>(latest_end[k]) < earliest) break;
      if (!spanIn(plot, spans[k]).adjusted(-1, -2, 1, 2).contains(at)) continue;
      best = std::max(best, spans[k]);
      break;
    }
  }
  return best;
}

QString RankTimelineCanvas::tipAt(const QPointF& at) const {
  const int span = spanAt(at);
  return span < 0 ? QString() : text(span);
}

void RankTimelineCanvas::choose(int at) {
  selected_ = at;
  setAccessibleDescription(at >= 0 ? text(at) : QString());
  update();
}

void RankTimelineCanvas::selectNode(quint64 node) {
  if (!ready()) return;
  const auto& all = timeline_->spans;
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const TimelineSpan& one) { return one.span.node == node; });
  choose(found == all.end() ? -1 : static_cast<int>(found - all.begin()));
  if (selected_ >= 0) reveal(selected_);
}

void RankTimelineCanvas::reveal(int at) {
  const auto begin = static_cast<double>(span(at).span.begin), end = static_cast<double>(span(at).span.end);
  if (begin >= from_ && end <= to_) return;
  const double length = std::max(to_ - from_, end - begin);
  from_ = begin - (length - (end - begin)) / 2;
  to_ = from_ + length;
  keepInReach();
}

void RankTimelineCanvas::click(const QPointF& at, Qt::KeyboardModifiers) {
  choose(spanAt(at));
  if (selected_ >= 0) Q_EMIT nodeSelected(span(selected_).span.node);
}

void RankTimelineCanvas::doubleClick(const QPointF& at) {
  click(at, {});
  activate();
}

bool RankTimelineCanvas::activate() {
  if (selected_ >= 0) Q_EMIT nodeActivated(span(selected_).span.node);
  return selected_ >= 0;
}

bool RankTimelineCanvas::clear() {
  if (selected_ < 0) return false;
  choose(-1);
  return true;
}

void RankTimelineCanvas::pan(const QPointF& pixels) {
  const double by = pixels.x() * (to_ - from_) / plotArea().width();
  from_ += by;
  to_ += by;
  keepInReach();
}

void RankTimelineCanvas::zoomAt(double factor, const QPointF& at) {
  const QRectF plot = plotArea();
  const double ns = from_ + (at.x() - plot.left()) / plot.width() * (to_ - from_);
  from_ = ns - (ns - from_) / factor;
  to_ = ns + (to_ - ns) / factor;
  keepInReach();
}

void RankTimelineCanvas::zoomBy(double factor) {
  zoomAt(factor, selected_ >= 0 ? spanRect(selected_).center() : plotArea().center());
}

// The next node of the same track, or the nearest one of the next track.
bool RankTimelineCanvas::go(Way way, Qt::KeyboardModifiers) {
  const auto count = static_cast<int>(timeline_->spans.size());
  const auto pick = [&](int at) {
    choose(at);
    reveal(at);
    Q_EMIT nodeSelected(span(at).span.node);
  };
  if (way == Way::First || way == Way::Last) return pick(way == Way::First ? 0 : count - 1), true;
  if (way == Way::PageUp || way == Way::PageDown) return false;
  if (selected_ < 0) return pick(0), true;
  const bool sideways = way == Way::Left || way == Way::Right;
  const int by = way == Way::Left || way == Way::Up ? -1 : 1;
  const int track = span(selected_).track + (sideways ? 0 : by);
  const int64_t begin = span(selected_).span.begin;
  int best = -1;
  for (int i = 0; i < count; ++i) {
    if (span(i).track != track || (sideways && (i - selected_) * by <= 0)) continue;
    if (best < 0 || std::abs(span(i).span.begin - begin) < std::abs(span(best).span.begin - begin)) best = i;
  }
  if (best >= 0) pick(best);
  return true;
}

}  // namespace shardscape::ui
