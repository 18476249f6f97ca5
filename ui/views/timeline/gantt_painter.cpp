#include "ui/views/timeline/gantt_painter.h"

#include <QCoreApplication>
#include <QHash>
#include <QStaticText>
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "ui/plot/axis_scale.h"
#include "ui/plot/bar_paint.h"
#include "ui/session/comparisons.h"
#include "ui/toolkit/contrast.h"
#include "ui/toolkit/graph_text.h"
#include "ui/toolkit/roles.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/value_scale.h"
#include "ui/views/timeline/span_text.h"
#include "ui/views/timeline/time_axis.h"

namespace shardscape::ui {
namespace {

QString tr_gantt(const char* text) { return QCoreApplication::translate("Gantt", text); }

constexpr double kTickRoom = 90;    // pixels between ticks
constexpr double kAlone = 1.5;      // pixels; thinner boxes are merged
constexpr double kRounded = 40;     // pixels; wider boxes have round corners if there are few boxes
constexpr double kParts = 4;        // pixels; thinner parts of a box are drawn as their share of the box
constexpr double kPattern = 4;      // pixels; narrower boxes are not hatched
constexpr size_t kMostLinks = 600;  // the most lines of the critical path between stages

bool solid(SpanKind kind) { return fill_of(role_of(kind)) == RoleFill::Solid; }

// The colours of one frame.
struct Inks {
  explicit Inks(const QColor& ground) : ground(ground), colors(Theme::instance().colors()) {
    for (int kind = 0; kind <= static_cast<int>(SpanKind::Optimizer); ++kind) {
      full[kind] = Theme::instance().spanColor(static_cast<SpanKind>(kind));
      faint[kind] = mixed(ground, full[kind], 0.22);
      half[kind] = mixed(ground, full[kind], 0.55);
      text[kind] = contrast(Qt::white, full[kind]) >= 4.5 ? QColor(Qt::white)
                                                          : readable(QColor("#0F1E33"), full[kind]);
    }
  }
  const QColor& fill(SpanKind kind, bool item_highlighted) const {
    return (item_highlighted ? full : faint)[static_cast<int>(kind)];
  }
  QColor ground;
  const Colors& colors;
  QColor full[11], faint[11], half[11], text[11];
};

class Painter {
 public:
  // Draws one step.
  Painter(QPainter& painter, const GanttLayout& layout, size_t step, const Inks& inks,
          const GanttMarks& marks, const OpsOf& ops, LaidOutTexts& texts)
      : p_(painter),
        l_(layout),
        step_(step),
        of_(layout.steps()[step]),
        lanes_(*of_.lanes),
        report_(*of_.report),
        m_(marks),
        ops_(ops),
        inks_(inks),
        texts_(texts),
        font_(Theme::instance().uiFont(11)),
        small_(Theme::instance().uiFont(10)),
        tight_(Theme::instance().uiFont(9)),
        metrics_(font_),
        small_metrics_(small_),
        tight_metrics_(tight_),
        longest_(QString::number(lanes_.last_microbatch()).size(), u'0') {}

  Roles run() {
    p_.save();
    p_.setClipRect(QRectF(l_.plot().left() - GanttLayout::kLabels, l_.plot().top(),
                          l_.plot().width() + GanttLayout::kLabels, l_.plot().height()),
                   Qt::IntersectClip);
    end();
    const int first = l_.firstRow(), end = l_.endRow();
    const auto mine = [&](int row) { return l_.rows()[static_cast<size_t>(row)].step == step_; };
    for (int row = first; row < end; ++row)
      if (mine(row)) labels(row);
    p_.setClipRect(l_.plot(), Qt::IntersectClip);
    for (int row = first; row < end; ++row)
      for (int lane = 0;
           mine(row) && lane < static_cast<int>(lanes_.of(l_.rows()[static_cast<size_t>(row)].stage).size());
           ++lane)
        paint_lane(row, lane);
    if (m_.critical) links();
    outline(m_.hovered, inks_.colors.text, 1);
    for (const ItemRef& same : m_.matching) outline(same, inks_.colors.text, 1.6);
    outline(m_.selected, inks_.colors.accent, 2);
    p_.restore();
    if (of_.member == 0) peak();
    heading();
    return seen_;
  }

  // Draws the parts that all steps share.
  static void axis(QPainter& painter, const GanttLayout& layout, const Inks& inks) {
    const QRectF& plot = layout.plot();
    AxisScale scale = linear_scale(layout.view().from,
                                   std::min(layout.seconds(plot.right()), longest(layout.steps()) * 1.0001));
    const double pixels = layout.scale() * (scale.to - scale.from);
    const ValueScale unit = time_axis_unit(
        scale.to, tick_step(scale.to - scale.from, std::max(2.0, pixels / kTickRoom)));
    scale.divisor = unit.divisor;
    const QFont font = Theme::instance().uiFont(11);
    const QFontMetricsF metrics(font);
    painter.setFont(font);
    for (const AxisTick& tick : ticks_of(scale, pixels, kTickRoom)) {
      const double x = layout.x(tick.place);
      painter.fillRect(QRectF(std::round(x), plot.top() - 4, 1, plot.height() + 4), inks.colors.line);
      painter.setPen(inks.colors.secondary);
      const QString label = tick.text + u' ' + unit.unit;
      const double width = metrics.horizontalAdvance(label);
      const double left = std::clamp(x - width / 2, plot.left() - 8,
                                     std::max(plot.left(), plot.right() - width));
      painter.drawText(QPointF(left, plot.top() - 8), label);
    }
  }

 private:
  // In a comparison, a line shows the end of each step.
  void end() {
    if (l_.steps().size() < 2) return;
    const QRectF rows = l_.rowsOf(step_);
    const double end = l_.x(lanes_.simulation().step_seconds);
    if (end <= l_.plot().left() || end >= l_.plot().right()) return;
    p_.fillRect(QRectF(end, rows.top(), l_.plot().right() - end, rows.height()),
                mixed(inks_.ground, inks_.colors.line, 0.45));
    p_.fillRect(QRectF(std::round(end), rows.top(), 2, rows.height()),
                Theme::instance().designColor(of_.member));
  }

  // The heading of a step: the design's letter and name, and the step time.
  void heading() {
    const QRectF rect = l_.heading(step_);
    if (rect.isNull() || rect.bottom() < l_.plot().top() || rect.top() > l_.plot().bottom()) return;
    p_.save();
    p_.setClipRect(l_.plot().adjusted(-GanttLayout::kLabels, 0, 0, 0), Qt::IntersectClip);
    const double seconds = lanes_.simulation().step_seconds,
                 now = l_.steps().front().lanes->simulation().step_seconds;
    const QColor ink = Theme::instance().designColor(of_.member), named = readable(ink, inks_.ground);
    p_.fillRect(rect.adjusted(0, -1, 8, 1), inks_.ground);
    if (step_ > 0) p_.fillRect(QRectF(rect.left(), rect.top() - 1, rect.width(), 1), inks_.colors.line);
    const QFont bold = Theme::instance().uiFont(12, QFont::DemiBold), plain = Theme::instance().uiFont(12);
    const QFontMetricsF wide(bold), narrow(plain);
    const double base = rect.center().y() + wide.capHeight() / 2;
    double x = rect.left();
    p_.setRenderHint(QPainter::Antialiasing);
    p_.setPen(Qt::NoPen);
    p_.setBrush(ink);
    p_.drawRoundedRect(QRectF(x, rect.center().y() - 5, 10, 10), 2, 2);
    p_.setRenderHint(QPainter::Antialiasing, false);
    const auto say = [&](const QString& text, const QFont& font, const QColor& color, double gap) {
      p_.setFont(font);
      p_.setPen(color);
      p_.drawText(QPointF(x, base), text);
      x += QFontMetricsF(font).horizontalAdvance(text) + gap;
    };
    x += 16;
    say(Comparisons::letter(of_.member), bold, named, 10);
    say(seconds_text(seconds), bold, inks_.colors.text, 10);
    if (of_.member > 0 && now > 0) say(signed_percent_text(seconds / now - 1), plain, inks_.colors.text, 14);
    const QString name = narrow.elidedText(of_.member == 0 ? tr_gantt("current: %1").arg(of_.name) : of_.name,
                                           Qt::ElideRight, rect.right() - x - 4);
    say(name, plain, inks_.colors.secondary, 0);
    p_.restore();
  }

  QRectF lane_of(int stage, int lane) const { return l_.lane(ItemRef{stage, lane, 0, of_.member}); }

  bool item_highlighted(const ItemRef& ref, const LaneItem& item) const {
    if (m_.critical && !item.critical) return false;
    return !m_.item_highlighted || m_.item_highlighted(ref);
  }

  // A triangle that points down at shown streams, and to the right of folded ones.
  void fold_mark(const QPointF& at, bool folded) {
    const QPolygonF mark = folded ? QPolygonF{at + QPointF(-1.5, -3.5), at + QPointF(2.5, 0),
                                              at + QPointF(-1.5, 3.5)}
                                  : QPolygonF{at + QPointF(-3.5, -1.5), at + QPointF(3.5, -1.5),
                                              at + QPointF(0, 2.5)};
    p_.setRenderHint(QPainter::Antialiasing);
    p_.setPen(Qt::NoPen);
    p_.setBrush(inks_.colors.secondary);
    p_.drawPolygon(mark);
    p_.setRenderHint(QPainter::Antialiasing, false);
  }

  void labels(int row) {
    const int stage = l_.rows()[static_cast<size_t>(row)].stage;
    const double right = l_.plot().left() - 10, left = right - GanttLayout::kLabels + 10;
    const std::vector<StreamLane>& lanes = lanes_.of(stage);
    const QRectF compute = l_.lane(row, 0);
    const bool narrow = compute.height() < 14, folded = l_.rows()[static_cast<size_t>(row)].folded;
    fold_mark(QPointF(left + 3, compute.center().y()), folded);
    p_.setFont(narrow ? small_ : Theme::instance().uiFont(12));
    p_.setPen(inks_.colors.text);
    p_.drawText(QRectF(left, compute.center().y() - 8, right - left, 16), Qt::AlignRight | Qt::AlignVCenter,
                tr_gantt("stage %1").arg(stage));
    if (!l_.laneLabels() || folded) return;
    p_.setFont(small_);
    p_.setPen(inks_.colors.secondary);
    for (size_t i = 1; i < lanes.size(); ++i) {
      const QRectF lane = l_.lane(row, static_cast<int>(i));
      p_.drawText(QRectF(left, lane.center().y() - 6, right - left, 12), Qt::AlignRight | Qt::AlignVCenter,
                  lane_label(lanes[i].stream));
    }
  }

  // Boxes thinner than 1.5 pixels become columns of one pixel, in the colour with the largest share, paler if
  // the column is mostly empty.
  struct Column {
    int64_t x = 0;
    double weight[11] = {};
    bool out[11] = {};
    bool any = false;
  };
  struct Run {
    int64_t from = 0, to = 0;
    QRgb color = 0;
    bool open = false;
  };

  void flush_run(const QRectF& lane) {
    if (run_.open)
      p_.fillRect(QRectF(static_cast<double>(run_.from), lane.top(), static_cast<double>(run_.to - run_.from),
                         lane.height()),
                  QColor::fromRgb(run_.color));
    run_.open = false;
  }

  void flush_column(const QRectF& lane) {
    if (!column_.any) return;
    int most = 0;
    double sum = 0;
    for (int k = 0; k < 11; ++k) {
      sum += column_.weight[k];
      if (column_.weight[k] > column_.weight[most]) most = k;
    }
    see(role_of(static_cast<SpanKind>(most)));
    const QColor& ink = !column_.out[most] ? inks_.faint[most]
                        : sum < 0.5        ? inks_.half[most]
                                           : inks_.full[most];
    const QRgb color = ink.rgb();
    if (!run_.open || run_.to != column_.x || run_.color != color) {
      flush_run(lane);
      run_ = {column_.x, column_.x, color, true};
    }
    run_.to = column_.x + 1;
    column_ = {};
  }

  void thin(const QRectF& lane, double x0, double x1, SpanKind kind, bool out) {
    const auto x = static_cast<int64_t>(std::floor(x0));
    if (column_.any && column_.x != x) flush_column(lane);
    column_.x = x;
    column_.any = true;
    const int k = static_cast<int>(kind);
    column_.weight[k] += std::max(x1 - x0, 1e-6);
    column_.out[k] = column_.out[k] || out;
  }

  void paint_lane(int row, int number) {
    const int stage = l_.rows()[static_cast<size_t>(row)].stage;
    const StreamLane& lane = lanes_.of(stage)[static_cast<size_t>(number)];
    const QRectF rect = l_.lane(row, number);
    if (rect.isNull()) return;  // folded
    const double end = l_.seconds(l_.plot().right());
    column_ = {};
    run_ = {};
    for (size_t i = Lanes::first_after(lane, l_.view().from);
         i < lane.items.size() && lane.items[i].begin < end; ++i) {
      const LaneItem& item = lane.items[i];
      const ItemRef ref{stage, number, static_cast<int>(i), of_.member};
      const double x0 = l_.x(item.begin), x1 = l_.x(item.end);
      const bool out = item_highlighted(ref, item);
      if (x1 - x0 < kAlone) {
        thin(rect, x0, x1, item.kind, out);
        continue;
      }
      flush_column(rect);
      flush_run(rect);
      box(ref, item, rect, x0, x1, out);
    }
    flush_column(rect);
    flush_run(rect);
  }

  void see(Role role) { seen_.set(static_cast<size_t>(role)); }

  void fill(const QRectF& rect, SpanKind kind, bool out) {
    const Role role = role_of(kind);
    see(role);
    if (fill_of(role) == RoleFill::Solid || rect.width() < kPattern)
      return p_.fillRect(rect, inks_.fill(kind, out));
    BarSeries series = series_of(role, {});
    if (!out) series.color = inks_.half[static_cast<int>(kind)];
    fill_bar(p_, rect, series, inks_.ground);
  }

  void box(const ItemRef& ref, const LaneItem& item, const QRectF& lane, double x0, double x1, bool out) {
    const double left = std::max(x0, l_.plot().left() - 4), right = std::min(x1, l_.plot().right() + 4);
    const double width = right - left;
    QRectF rect(left, lane.top(), width >= 5 ? width - 1 : width, lane.height());
    const bool wide = x1 - x0 >= kLeastForOps && lane.height() >= 12 && OpDetail::has_ops(item);
    if (wide) {
      const std::vector<PlacedOp> ops = ops_ ? ops_(ref, l_.seconds(left), l_.seconds(right))
                                             : std::vector<PlacedOp>();
      if (!ops.empty()) return paint_ops(item, rect, ops, out);
    }
    if (item.recompute > 0 && x1 - x0 >= kParts) {
      parts(ref, item, rect, x0, x1, out);
    } else if (x1 - x0 >= kRounded && lane.height() >= 14 && solid(item.kind)) {
      see(role_of(item.kind));
      p_.setRenderHint(QPainter::Antialiasing);
      p_.setPen(Qt::NoPen);
      p_.setBrush(inks_.fill(item.kind, out));
      p_.drawRoundedRect(rect, 2, 2);
      p_.setRenderHint(QPainter::Antialiasing, false);
    } else {
      fill(rect, item.kind, out);
    }
    if (lane.height() >= 12) label(item, rect, out);
  }

  // Recomputation is hatched where it runs. If its parts are too thin, it is drawn as one share of the box.
  void parts(const ItemRef& ref, const LaneItem& item, const QRectF& rect, double x0, double x1, bool out) {
    const StreamLane& lane = lanes_.lane(ref);
    if ((x1 - x0) / item.count < kParts) {
      const double split = std::clamp(x0 + (x1 - x0) * item.recompute, rect.left(), rect.right());
      fill(QRectF(rect.left(), rect.top(), split - rect.left(), rect.height()), SpanKind::Recompute, out);
      fill(QRectF(split, rect.top(), rect.right() - split, rect.height()), item.kind, out);
      return;
    }
    for (int32_t i = 0; i < item.count; ++i) {
      const Span& span = lanes_.span(ref.stage, lane.spans[static_cast<size_t>(item.first + i)]);
      const double from = std::max(l_.x(span.begin), rect.left()),
                   to = std::min(l_.x(span.end), rect.right());
      if (to > from) fill(QRectF(from, rect.top(), to - from, rect.height()), span.kind, out);
    }
  }

  using Words = LaidOutTexts::Text;
  const Words& words_of(const QString& text, bool tight = false) {
    constexpr qsizetype kMost = 4096;
    const QFont& font = tight ? tight_ : font_;
    LaidOutTexts::OfFont& of = texts_.fonts[tight];
    if (font != of.font || of.texts.size() > kMost) of = {font, {}};
    auto it = of.texts.find(text);
    if (it == of.texts.end()) {
      QStaticText made(text);
      made.setTextFormat(Qt::PlainText);
      made.setPerformanceHint(QStaticText::AggressiveCaching);
      made.prepare({}, font);
      it = of.texts.insert(text, {made, (tight ? tight_metrics_ : metrics_).horizontalAdvance(text)});
    }
    return *it;
  }

  void label(const LaneItem& item, const QRectF& box, bool out) {
    // The text is on the solid part if the share is drawn, else on a patch of ground colour.
    const bool patterned = item.recompute > 0.1, share = patterned && box.width() / item.count < kParts;
    const QRectF rect = share ? box.adjusted(box.width() * item.recompute, 0, 0, 0) : box;
    if (item.microbatch < 0 && rect.width() < 60) return;
    const QString mark = item.pass == Pass::WeightGradient ? QStringLiteral("w") : QString();
    QString text = (item.microbatch >= 0 ? QString::number(item.microbatch)
                    : item.name >= 0     ? text_of_name(item.name)
                                         : pass_label(item)) +
                   mark;
    if (item.pass == Pass::Communication && item.microbatch >= 0) return;
    const bool patch = (patterned && !share) || !solid(item.kind);
    const double room = rect.width() - (patch ? 40 : 3);
    // All boxes of equal width have their numbers, or none has. The longest number decides, and whether the
    // tight font is used.
    const double longest = item.microbatch >= 0 ? words_of(longest_ + mark).advance : words_of(text).advance;
    const bool tight = longest > room;
    if (tight && (item.microbatch < 0 || words_of(longest_ + mark, true).advance > room + 1)) return;
    const QString longer = item.microbatch >= 0 && lanes_.chunks() > 1
                               ? tr_gantt("%1, chunk %2").arg(text).arg(item.chunk)
                               : text;
    if (longer != text && !patterned && rect.width() > 50 && words_of(longer).advance + 10 <= rect.width())
      text = longer;
    const Words& words = words_of(text, tight);
    const QFontMetricsF& metrics = tight ? tight_metrics_ : metrics_;
    const double advance = words.advance;
    p_.setFont(tight ? tight_ : font_);
    p_.setPen(!out    ? inks_.colors.secondary
              : patch ? inks_.colors.text
                      : inks_.text[static_cast<int>(item.kind)]);
    const double left = rect.center().x() - advance / 2;
    const QPointF at(tight ? left : std::round(left),
                     std::round(rect.center().y() + metrics.capHeight() / 2 - metrics.ascent()));
    if (patch) p_.fillRect(QRectF(at.x() - 2, rect.center().y() - 7, advance + 4, 14), inks_.ground);
    p_.drawStaticText(at, words.text);
  }

  QString text_of_name(int32_t name) const {
    return QString::fromStdString(lanes_.simulation().names[static_cast<size_t>(name)].text);
  }

  void paint_op(const QRectF& rect, Role role, const QColor& ink) {
    if (fill_of(role) == RoleFill::Solid || rect.width() < kPattern) return p_.fillRect(rect, ink);
    BarSeries series = series_of(role, {});
    series.color = ink;
    fill_bar(p_, rect, series, inks_.ground);
  }

  void paint_ops(const LaneItem& item, const QRectF& rect, const std::vector<PlacedOp>& ops, bool out) {
    p_.fillRect(rect, inks_.faint[static_cast<int>(item.kind)]);
    column_ = {};
    const double top = rect.top(), compute_height = height_of_compute(ops, rect.height());
    double painted[] = {-1, -1};
    for (const PlacedOp& op : ops) {
      const double x0 = std::max(l_.x(op.begin), rect.left()), x1 = std::min(l_.x(op.end), rect.right());
      if (x1 - painted[op.concurrent] < 0.7) continue;  // thinner than a pixel: the previous op covers it
      const Op& of = report_.graph().segments[static_cast<size_t>(op.segment)].op(op.op);
      const Role role = role_of(of);
      const QColor ink = color_of(role);
      see(role);
      const bool marked = out &&
                          (!m_.op_highlighted || m_.op_highlighted(of_.member, op.segment, op.op, op.layer));
      const QRectF at(x0, op.concurrent ? top + compute_height : top,
                      std::max(1.0, x1 - x0 - (x1 - x0 >= 4 ? 1 : 0)),
                      op.concurrent ? rect.height() - compute_height : compute_height);
      paint_op(at, role, marked ? ink : mixed(inks_.ground, ink, 0.3));
      painted[op.concurrent] = x1;
      if (at.width() < 30 || at.height() < small_metrics_.capHeight() + 2) continue;
      const auto [title, first] = titles_.try_emplace({op.segment, op.op});
      if (first) title->second = placed_op_title(report_, op);
      const QString text = small_metrics_.elidedText(title->second, Qt::ElideRight, at.width() - 6);
      if (text.size() < 3) continue;
      p_.setFont(small_);
      if (fill_of(role) != RoleFill::Solid)
        p_.fillRect(
            QRectF(at.left() + 1, at.center().y() - 6, small_metrics_.horizontalAdvance(text) + 4, 12),
            inks_.ground);
      p_.setPen(!marked                            ? inks_.colors.secondary
                : fill_of(role) != RoleFill::Solid ? inks_.colors.text
                : contrast(Qt::white, ink) >= 4.5  ? QColor(Qt::white)
                                                   : readable(QColor("#0F1E33"), ink));
      p_.drawText(QPointF(at.left() + 3, at.center().y() + small_metrics_.capHeight() / 2), text);
    }
    // The title of the box is above its ops.
    if (top - l_.plot().top() < 2) return;
    QString title = pass_label(item);
    if (item.microbatch >= 0) title += u' ' + QString::number(item.microbatch);
    p_.setFont(small_);
    p_.setPen(inks_.colors.secondary);
    if (small_metrics_.horizontalAdvance(title) + 6 < rect.width())
      p_.drawText(QPointF(std::max(rect.left(), l_.plot().left()) + 2, top - 3), title);
  }

  // Lines of the critical path from one stage to another.
  void links() {
    const auto& parts = lanes_.simulation().critical;
    const double from = l_.view().from, to = l_.seconds(l_.plot().right());
    const auto begin = std::partition_point(parts.begin(), parts.end(),
                                            [&](const CriticalPart& part) { return part.end < from; });
    p_.setPen(QPen(inks_.colors.bad, 1.2));
    p_.setRenderHint(QPainter::Antialiasing);
    size_t drawn = 0;
    for (auto it = begin; it != parts.end() && it->begin <= to && drawn < kMostLinks; ++it) {
      if (it == parts.begin()) continue;
      const CriticalPart& before = *(it - 1);
      const ItemRef a = lanes_.of_span(before.stage, before.span), b = lanes_.of_span(it->stage, it->span);
      if (!a.valid() || !b.valid() || (a.stage == b.stage && a.lane == b.lane)) continue;
      const QRectF la = lane_of(a.stage, a.lane), lb = lane_of(b.stage, b.lane);
      if (la.isNull() || lb.isNull()) continue;
      p_.drawLine(QPointF(l_.x(before.end), la.center().y()), QPointF(l_.x(it->begin), lb.center().y()));
      ++drawn;
    }
    p_.setRenderHint(QPainter::Antialiasing, false);
  }

  void outline(const ItemRef& ref, const QColor& color, double width) {
    if (!ref.valid() || ref.member != of_.member || ref.stage >= lanes_.stages()) return;
    QRectF rect = l_.rect(ref);
    if (rect.isNull()) return;
    if (ref == m_.selected && m_.selected_op >= 0 && ops_) {
      const std::vector<PlacedOp> ops = ops_(ref, -1, 1e18);
      if (m_.selected_op < static_cast<int>(ops.size())) {
        const PlacedOp& op = ops[static_cast<size_t>(m_.selected_op)];
        rect.setLeft(l_.x(op.begin));
        rect.setRight(l_.x(op.end));
      }
    }
    if (rect.width() < 3) rect = QRectF(rect.center().x() - 1.5, rect.top(), 3, rect.height());
    rect = rect.intersected(l_.plot().adjusted(-6, -6, 6, 6));
    if (rect.isEmpty()) return;
    p_.setBrush(Qt::NoBrush);
    p_.setPen(QPen(color, width));
    p_.setRenderHint(QPainter::Antialiasing);
    const double grow = width > 1 ? 1.5 : 0.5;
    p_.drawRoundedRect(rect.adjusted(-grow, -grow, grow, grow), 3, 3);
    p_.setRenderHint(QPainter::Antialiasing, false);
  }

  void peak() {
    if (!m_.peak) return;
    const double x = l_.x(*m_.peak);
    const QRectF& plot = l_.plot();
    if (x < plot.left() || x > plot.right()) return;
    const QColor ink = readable(inks_.colors.accent, inks_.ground);
    const double bottom = l_.steps().size() > 1
                              ? std::clamp(l_.rowsOf(step_).bottom(), plot.top(), plot.bottom())
                              : plot.bottom();
    // The lines do not cross the headings above the rows.
    const double top = l_.steps().size() > 1 ? std::clamp(l_.heading(step_).bottom(), plot.top(), bottom)
                                             : plot.top();
    p_.fillRect(QRectF(std::round(x), plot.top() - 18, 1.5, 14), ink);
    p_.fillRect(QRectF(std::round(x), l_.steps().size() > 1 ? top : plot.top() - 4, 1.5,
                       bottom - top + (l_.steps().size() > 1 ? 0 : 4)),
                ink);
    p_.setFont(font_);
    p_.setPen(ink);
    const double width = metrics_.horizontalAdvance(m_.peak_label);
    p_.drawText(QPointF(std::min(x + 5, plot.right() - width), plot.top() - 23), m_.peak_label);
  }

  QPainter& p_;
  const GanttLayout& l_;
  const size_t step_;
  const GanttStep& of_;
  const Lanes& lanes_;
  const Report& report_;
  const GanttMarks& m_;
  const OpsOf& ops_;
  const Inks& inks_;
  LaidOutTexts& texts_;
  QFont font_, small_, tight_;
  QFontMetricsF metrics_, small_metrics_, tight_metrics_;
  const QString longest_;  // the widest number of a microbatch
  Column column_;
  std::map<std::pair<int, int>, QString> titles_;  // titles of ops by (segment, op), shared by all layers
  Run run_;
  Roles seen_;
};

}  // namespace

Roles paint_gantt(QPainter& painter, const GanttLayout& layout, const GanttMarks& marks, const OpsOf& ops,
                  LaidOutTexts& texts) {
  const Inks inks(marks.ground);
  Painter::axis(painter, layout, inks);
  Roles seen;
  for (size_t step = 0; step < layout.steps().size(); ++step)
    seen |= Painter(painter, layout, step, inks, marks, ops, texts).run();
  return seen;
}

}  // namespace shardscape::ui
