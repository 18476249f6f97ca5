#include "ui/views/graph/sheet_painter.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "ui/plot/design_overlay.h"
#include "ui/toolkit/contrast.h"
#include "ui/toolkit/theme.h"

namespace shardscape::ui {
namespace {

// Below these zooms texts are unreadable, and cards are dots.
constexpr double kDetailZoom = 0.55, kTitleZoom = 0.38, kCardZoom = 0.2, kLineZoom = 0.03;
constexpr double kCorner = 5, kEdge = 4;
constexpr double kLetter = 15;  // size of the letter of a different design, pixels

struct Inks {
  QColor panel, frame, frame_line, line, wire, text, secondary, accent, hit, pill, pill_line, plain_pill;
  std::array<QColor, kOpKindCount> kinds, mid_kinds, far_kinds;
};

Inks make_inks() {
  const Theme& theme = Theme::instance();
  const Colors& c = theme.colors();
  Inks inks;
  inks.panel = c.panel;
  inks.frame = mixed(c.ground, c.panel, 0.6);
  inks.frame_line = mixed(c.line, c.secondary, 0.25);
  inks.line = mixed(c.line, c.secondary, 0.15);
  inks.wire = mixed(c.ground, c.secondary, 0.62);
  inks.text = c.text;
  inks.secondary = c.secondary;
  inks.accent = c.accent;
  inks.hit = c.note;
  inks.pill = mixed(c.panel, c.communication, 0.17);
  inks.pill_line = c.communication;
  inks.plain_pill = mixed(c.panel, c.secondary, 0.1);
  for (int kind = 0; kind < kOpKindCount; ++kind) {
    inks.kinds[static_cast<size_t>(kind)] = theme.opColor(static_cast<OpKind>(kind));
    inks.mid_kinds[static_cast<size_t>(kind)] = mixed(c.panel, inks.kinds[static_cast<size_t>(kind)], 0.4);
    inks.far_kinds[static_cast<size_t>(kind)] = mixed(c.panel, inks.kinds[static_cast<size_t>(kind)], 0.75);
  }
  return inks;
}

class Painting {
 public:
  Painting(QPainter& painter, const ViewTransform& view, const QRectF& clip, const SheetFonts& fonts,
           const PaintMarks& marks)
      : painter_(painter), view_(view), clip_(clip), fonts_(fonts), marks_(marks), inks_(make_inks()) {}

  void draw(const Sheet& root) {
    painter_.save();
    painter_.setRenderHint(QPainter::Antialiasing, view_.zoom >= kCardZoom);
    painter_.setRenderHint(QPainter::TextAntialiasing);
    sheet(root, {}, {});
    flush_far();
    painter_.restore();
    painter_.save();
    painter_.setRenderHint(QPainter::Antialiasing);
    for (const auto& [rect, shape, color, width] : rings_) ring(rect, shape, color, width);
    for (const auto& [piece, rect] : compared_) letters(*piece, rect);
    painter_.restore();
  }

 private:
  bool near() const { return view_.zoom >= kCardZoom; }

  void sheet(const Sheet& sheet, QPointF at, const NodeId& container) {
    if (near())
      lines(sheet, at, container);
    else
      far_lines(sheet, at);
    for (const Piece& piece : sheet.pieces) {
      const QRectF rect = piece.rect.translated(at);
      if (!view_.map(rect).intersects(clip_)) continue;
      const NodeId id = full_id(piece, container);
      const std::optional<double> share = marks_.heat ? marks_.heat->share(piece, id) : std::nullopt;
      const std::optional<QColor> heat = share ? std::optional(heat_color(*share)) : std::nullopt;
      if (near())
        near_piece(piece, rect, heat);
      else
        far_piece(piece, rect, heat);
      mark(piece, id, rect);
      if (piece.inside) this->sheet(*piece.inside, rect.topLeft() + piece.inside_at, id);
    }
    if (view_.zoom >= kDetailZoom) words(sheet, at);
  }

  void lines(const Sheet& sheet, QPointF at, const NodeId& container) {
    const QPointF origin = view_.map(at);
    painter_.save();
    painter_.translate(origin);
    painter_.scale(view_.zoom, view_.zoom);
    painter_.setBrush(Qt::NoBrush);
    QPen pen(inks_.wire, std::max(1.2, 0.8 / view_.zoom));
    pen.setCapStyle(Qt::RoundCap);
    painter_.setPen(pen);
    const QRectF seen(view_.unmap(clip_.topLeft()) - at, clip_.size() / view_.zoom);
    if (seen.contains(QRectF(QPointF(), sheet.size))) {
      painter_.drawPath(sheet.lines);
    } else {  // most of a long chain is outside the view, and stroking is expensive
      QPainterPath visible;
      for (const Wire& wire : sheet.wires)
        if (wire.bounds.adjusted(-2, -2, 2, 2).intersects(seen)) visible.addPath(wire.path);
      painter_.drawPath(visible);
    }
    for (const Wire& wire : sheet.wires) {
      if (&wire != marks_.selected_wire || container != marks_.selected_wire_around) continue;
      painter_.setPen(QPen(inks_.accent, 2.4 / std::min(1.0, view_.zoom)));
      painter_.drawPath(wire.path);
    }
    painter_.restore();
  }

  void far_lines(const Sheet& sheet, QPointF at) {
    if (view_.zoom < kLineZoom) return;
    const QPointF origin = view_.map(at);
    for (const QLineF& line : sheet.coarse_lines) {
      const QLineF mapped(line.p1() * view_.zoom + origin, line.p2() * view_.zoom + origin);
      if (std::max(mapped.y1(), mapped.y2()) < clip_.top() ||
          std::min(mapped.y1(), mapped.y2()) > clip_.bottom())
        continue;
      if (std::abs(mapped.dx()) + std::abs(mapped.dy()) >= 2) far_lines_.append(mapped);
    }
  }

  void words(const Sheet& sheet, QPointF at) {
    painter_.setPen(inks_.secondary);
    for (const Wire& wire : sheet.wires)
      if (!wire.label.text.isEmpty()) text(wire.label, at, fonts_.caption);
    for (const TextLine& caption : sheet.captions) text(caption, at, fonts_.note);
  }

  void text(const TextLine& line, QPointF at, const QFont& font) {
    if (line.text.isEmpty()) return;
    painter_.setFont(font);
    const QPointF place = view_.map(at + line.at);
    if (view_.zoom == 1) {
      painter_.drawStaticText(QPointF(std::round(place.x()), std::round(place.y())), line.drawn);
      return;
    }
    painter_.save();
    painter_.translate(place);
    painter_.scale(view_.zoom, view_.zoom);
    painter_.drawStaticText(QPointF(), line.drawn);
    painter_.restore();
  }

  void near_piece(const Piece& piece, const QRectF& rect, const std::optional<QColor>& heat) {
    const QRectF box = view_.map(rect);
    const double corner = kCorner * std::min(1.0, view_.zoom);
    const bool pill = piece.shape == PieceShape::Pill;
    const bool communicates = pill && is_collective(static_cast<OpKind>(piece.kind));
    if (piece.shape == PieceShape::Frame) {
      frame(box, corner + 2);
    } else if (pill) {
      painter_.setPen(QPen(communicates ? inks_.pill_line : inks_.line, 1));
      painter_.setBrush(heat ? *heat : communicates ? inks_.pill : inks_.plain_pill);
      painter_.drawRoundedRect(box, box.height() / 2, box.height() / 2);
    } else {
      painter_.setPen(QPen(inks_.line, 1));
      // A card that is too small for text shows the colour of its op.
      const bool wordless = view_.zoom < kTitleZoom && piece.kind >= 0;
      painter_.setBrush(heat       ? *heat
                        : wordless ? inks_.mid_kinds[static_cast<size_t>(piece.kind)]
                                   : inks_.panel);
      painter_.drawRoundedRect(box, corner, corner);
      if (piece.kind >= 0)
        painter_.fillRect(QRectF(box.left(), box.top(), kEdge * view_.zoom, box.height()),
                          inks_.kinds[static_cast<size_t>(piece.kind)]);
    }
    if (view_.zoom < kTitleZoom) return;
    const QColor ink = heat ? heat_ink(*heat) : inks_.text, pale = heat ? ink : inks_.secondary;
    if (piece.expandable) chevron(rect, piece.shape == PieceShape::Frame, pale);
    painter_.setPen(ink);
    const QFont& title_font = piece.shape == PieceShape::Card ? fonts_.title : fonts_.plain;
    if (piece.shape == PieceShape::Frame) painter_.setPen(inks_.secondary);
    text(piece.title, rect.topLeft(), title_font);
    if (view_.zoom < kDetailZoom) return;
    painter_.setPen(pale);
    text(piece.detail, rect.topLeft(), piece.shape == PieceShape::Frame ? fonts_.note : fonts_.detail);
  }

  // Frames can be a hundred screens high. The painter gets only the part near the view. Without visible
  // corners it draws a plain rectangle, which is much faster.
  void frame(const QRectF& box, double corner) {
    const double beyond = 4 * corner;
    const QRectF seen = box.intersected(clip_.adjusted(-beyond, -beyond, beyond, beyond));
    painter_.setPen(QPen(inks_.frame_line, 1));
    if (seen.height() < box.height() && !clip_.contains(box.topLeft()) && !clip_.contains(box.topRight()) &&
        !clip_.contains(box.bottomLeft()) && !clip_.contains(box.bottomRight())) {
      painter_.fillRect(seen.toAlignedRect(), inks_.frame);
      painter_.setBrush(Qt::NoBrush);
      painter_.drawRect(seen);
      return;
    }
    painter_.setBrush(inks_.frame);
    painter_.drawRoundedRect(seen, corner, corner);
  }

  void chevron(const QRectF& rect, bool open, const QColor& ink) {
    const QPointF at = view_.map(rect.topLeft() + QPointF(19, open ? kTitleBar / 2 : 18));
    const double s = 3.5 * view_.zoom;
    const QPointF closed_shape[3] = {at + QPointF(-s, -1.3 * s), at + QPointF(s, 0),
                                     at + QPointF(-s, 1.3 * s)};
    const QPointF open_shape[3] = {at + QPointF(-1.3 * s, -s), at + QPointF(1.3 * s, -s), at + QPointF(0, s)};
    painter_.setPen(Qt::NoPen);
    painter_.setBrush(ink);
    painter_.drawPolygon(open ? open_shape : closed_shape, 3);
  }

  void far_piece(const Piece& piece, const QRectF& rect, const std::optional<QColor>& heat) {
    QRectF box = view_.map(rect);
    box.setSize({std::max(1.0, box.width()), std::max(1.0, box.height())});
    if (piece.shape == PieceShape::Frame) {
      painter_.fillRect(box, inks_.frame);
      if (box.height() > 6) {
        painter_.setPen(inks_.frame_line);
        painter_.setBrush(Qt::NoBrush);
        painter_.drawRect(box);
      }
    } else if (heat) {
      painter_.fillRect(box, *heat);
    } else {
      far_cards_[static_cast<size_t>(piece.kind < 0 ? kOpKindCount : piece.kind)].append(box);
    }
  }

  void flush_far() {
    painter_.setPen(inks_.wire);
    painter_.drawLines(far_lines_);
    for (size_t kind = 0; kind < far_cards_.size(); ++kind) {
      if (far_cards_[kind].isEmpty()) continue;
      painter_.setPen(Qt::NoPen);
      painter_.setBrush(kind < kOpKindCount ? inks_.far_kinds[kind] : inks_.line);
      painter_.drawRects(far_cards_[kind]);
    }
  }

  void mark(const Piece& piece, const NodeId& id, const QRectF& rect) {
    if (marks_.differences && !marks_.differences->empty() && view_.zoom >= kLineZoom)
      compared_.emplace_back(&piece, rect);
    if (marks_.hits && !marks_.hits->empty() && found(piece, *marks_.hits))
      rings_.push_back({rect, piece.shape, inks_.hit, 1.6});
    if (marks_.selected_ops && !marks_.selected_ops->ops.empty() && found(piece, marks_.selected_ops->ops) &&
        marks_.selected_ops->has(piece, id))
      rings_.push_back({rect, piece.shape, inks_.accent, 1.6});
    if (id == marks_.selected)
      rings_.push_back({rect, piece.shape, inks_.accent, marks_.focused ? 2.4 : 1.6});
    else if (id == marks_.hovered)
      rings_.push_back({rect, piece.shape, mixed(inks_.line, inks_.accent, 0.6), 1});
  }

  static bool found(const Piece& piece, const SearchHits& hits) {
    switch (piece.id.level) {
      case NodeLevel::Op: return hits.has_op(piece.segment, piece.id.op);
      case NodeLevel::Block:
        return !piece.inside && hits.has_block(piece.segment, piece.id.backward, piece.id.block);
      case NodeLevel::Stage:
      case NodeLevel::Unit:
        return !piece.inside && std::any_of(piece.segments.begin(), piece.segments.end(),
                                            [&](int segment) { return hits.has_segment(segment); });
      case NodeLevel::Root: break;
    }
    return false;
  }

  // Letters at the upper right corner, from the right; dots if letters are too small.
  void letters(const Piece& piece, const QRectF& rect) {
    const QRectF box = view_.map(rect);
    const bool words = view_.zoom >= kTitleZoom;
    const double size = words ? kLetter : view_.zoom >= kCardZoom ? 5 : 3;
    double x = box.right() - (words ? 6 : 0);
    for (auto it = marks_.differences->rbegin(); it != marks_.differences->rend(); ++it) {
      const bool otherwise = found(piece, it->otherwise);
      if (!otherwise && !found(piece, it->sized)) continue;
      const QRectF at(x - size, box.top() - size / 2, size, size);
      x -= size + 2;
      if (words) {
        paint_design_letter(painter_, at, it->letter, it->color, inks_.panel, otherwise);
      } else {
        painter_.setPen(QPen(it->color, 1.4));
        painter_.setBrush(otherwise ? it->color : inks_.panel);
        painter_.drawRect(at);
      }
    }
  }

  void ring(const QRectF& rect, PieceShape shape, const QColor& color, double width) {
    QRectF box = view_.map(rect);
    if (box.height() < 3) box.adjust(-2, -2, 2, 2);
    const double corner = shape == PieceShape::Pill
                              ? box.height() / 2
                              : (kCorner + 2 * (shape == PieceShape::Frame)) * std::min(1.0, view_.zoom);
    painter_.setPen(QPen(color, width));
    painter_.setBrush(Qt::NoBrush);
    painter_.drawRoundedRect(box, corner, corner);
  }

  struct Ring {
    QRectF rect;
    PieceShape shape;
    QColor color;
    double width;
  };
  QPainter& painter_;
  const ViewTransform& view_;
  const QRectF clip_;
  const SheetFonts& fonts_;
  const PaintMarks& marks_;
  const Inks inks_;
  std::vector<std::pair<const Piece*, QRectF>> compared_;
  std::vector<Ring> rings_;  // drawn last, so that no neighbour covers them
  QVector<QLineF> far_lines_;
  std::array<QVector<QRectF>, kOpKindCount + 1> far_cards_;
};

}  // namespace

void SearchHits::add(int segment, bool backward, int block, OpId op) {
  segments_.insert(segment);
  if (block >= 0) blocks_.insert(key(segment, backward, block));
  ops_.insert(key(segment, false, op));
}

bool SelectedOps::has(const Piece& piece, const NodeId& id) const {
  const auto meets = [&](int first, int end) {
    return first_unit < 0 || (end > first_unit && first < end_unit);
  };
  if (id.level != NodeLevel::Stage)
    return (stage < 0 || id.stage == stage) && meets(id.unit, id.unit + piece.units);
  return (stage < 0 || (stage >= id.stage && stage < id.stage + piece.units)) &&
         std::any_of(piece.held.begin(), piece.held.end(),
                     [&](const auto& units) { return meets(units.first, units.second); });
}

void paint_sheet(QPainter& painter, const Sheet& root, const ViewTransform& view, const QRectF& clip,
                 const SheetFonts& fonts, const PaintMarks& marks) {
  Painting(painter, view, clip, fonts, marks).draw(root);
}

}  // namespace shardscape::ui
