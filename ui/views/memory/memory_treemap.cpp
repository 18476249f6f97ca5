#include "ui/views/memory/memory_treemap.h"

#include <QPainter>
#include <algorithm>
#include <cmath>
#include <limits>

#include "ui/plot/bar_paint.h"
#include "ui/plot/squarified.h"
#include "ui/toolkit/contrast.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

constexpr double kTitle = 16, kGap = 2;                  // heights of titles, space between boxes
constexpr double kLeastTitleWidth = 56, kLeastBox = 40;  // a smaller box has no title
constexpr double kLeastLabel = 6, kLeastFrame = 3;       // a smaller tile has no text, no frame of its own

bool below_a_pixel(const QRectF& rect) { return rect.width() <= 1 || rect.height() <= 1; }

}  // namespace

MemoryTreemap::MemoryTreemap(QWidget* parent)
    : Canvas(QStringLiteral("memory_treemap"), tr("Memory at the peak, by tensors and layer"), parent) {}

void MemoryTreemap::setReport(std::shared_ptr<const Report> report, int stage, UnitSystem units) {
  const bool same = report == report_ && stage == stage_;
  report_ = std::move(report);
  stage_ = stage;
  units_ = units;
  tiles_ = peak_tiles(memory());
  boxes_ = {};
  marked_.assign(tiles_.size(), 0);
  select(same ? selected_ : -1);
}

const MemoryContributor& MemoryTreemap::contributor(const PeakTile& tile) const {
  return memory().contributors[static_cast<size_t>(tile.contributor)];
}

QString MemoryTreemap::nameOf(const PeakTile& tile) const {
  const QString name = words(contributor(tile).name);
  if (!tile.by_layer) return name;
  return tile.layer < 0 ? tr("%1, outside of layers").arg(name)
                        : tr("%1, layer %2").arg(name).arg(tile.layer);
}

QString MemoryTreemap::textOf(const PeakTile& tile) const {
  return tr("%1, %2 of the peak")
      .arg(rank_bytes_text(tile.bytes, units_),
           percent_text(static_cast<double>(tile.bytes) / static_cast<double>(memory().in_use)));
}

void MemoryTreemap::select(int tile) {
  selected_ = tile < static_cast<int>(tiles_.size()) ? tile : -1;
  if (selected_ >= 0) {
    const PeakTile& of = tiles_[static_cast<size_t>(selected_)];
    setAccessibleDescription(nameOf(of) + QStringLiteral(": ") + textOf(of));
  } else if (report_) {
    setAccessibleDescription(tr("Stage %1 uses %2 at its peak: %3")
                                 .arg(stage_)
                                 .arg(rank_bytes_text(memory().in_use, units_), text_of(memory().peak_text)));
  }
  update();
}

void MemoryTreemap::setMarked(std::vector<char> marked) {
  marked_ = std::move(marked);
  update();
}

// The boxes of consecutive tiles that share a category or a contributor.
std::vector<MemoryTreemap::Box> MemoryTreemap::split(size_t first, size_t end, const QRectF& area,
                                                     bool by_category) const {
  const auto key = [&](size_t tile) {
    return by_category ? static_cast<int>(contributor(tiles_[tile]).category) : tiles_[tile].contributor;
  };
  std::vector<Box> out;
  std::vector<double> bytes;
  for (size_t i = first; i < end; ++i) {
    if (out.empty() || key(i) != key(i - 1)) {
      const MemoryContributor& of = contributor(tiles_[i]);
      out.push_back(
          {{}, {}, i, i, by_category ? text_of(memory_category_label(of.category)) : words(of.name)});
      bytes.push_back(0);
    }
    out.back().end = i + 1;
    bytes.back() += static_cast<double>(tiles_[i].bytes);
  }
  const std::vector<QRectF> rects = squarified(bytes, area);
  for (size_t i = 0; i < out.size(); ++i) {
    Box& box = out[i];
    box.rect = box.content = rects[i];
    const bool has_layers = box.end - box.first > 1;
    const bool titled = (by_category || has_layers) && box.rect.height() >= kLeastBox &&
                        box.rect.width() >= kLeastTitleWidth;
    if (!titled) box.title.clear();
    if (titled) box.content.adjust(0, kTitle, 0, 0);
    if (by_category && box.content.width() > 4 * kGap && box.content.height() > 4 * kGap)
      box.content.adjust(kGap, 0, -kGap, -kGap);
  }
  return out;
}

const MemoryTreemap::Boxes& MemoryTreemap::boxes(const QRectF& area) const {
  Boxes& out = boxes_;
  if (out.area == area && out.tiles.size() == tiles_.size()) return out;
  out = {area, {}, {}, {}};
  out.tiles.resize(tiles_.size());
  out.categories = split(0, tiles_.size(), area, true);
  for (const Box& category : out.categories)
    for (Box& of : split(category.first, category.end, category.content, false)) {
      std::vector<double> bytes;
      for (size_t i = of.first; i < of.end; ++i) bytes.push_back(static_cast<double>(tiles_[i].bytes));
      const std::vector<QRectF> rects = squarified(bytes, of.content);
      std::copy(rects.begin(), rects.end(), out.tiles.begin() + static_cast<std::ptrdiff_t>(of.first));
      out.contributors.push_back(std::move(of));
    }
  return out;
}

std::vector<QRectF> MemoryTreemap::tileRects(const QRectF& area) const { return boxes(area).tiles; }

// Tiles below a pixel become one patch.
void MemoryTreemap::paintTiles(QPainter& painter, const Boxes& boxes, const Box& of,
                               const QColor& ground) const {
  const BarSeries series = series_of(role_of(contributor(tiles_[of.first]).category), {});
  QRectF small;
  for (size_t i = of.first; i < of.end; ++i)
    if (below_a_pixel(boxes.tiles[i])) small |= boxes.tiles[i];
  painter.fillRect(small, series.color);
  for (size_t i = of.first; i < of.end; ++i)
    if (!below_a_pixel(boxes.tiles[i]))
      paintTile(painter, tiles_[i], boxes.tiles[i], of.end - of.first > 1, series, ground);
}

void MemoryTreemap::paintTile(QPainter& painter, const PeakTile& tile, const QRectF& rect, bool of_several,
                              const BarSeries& series, const QColor& ground) const {
  const QRectF inner = rect.adjusted(0.5, 0.5, -0.5, -0.5);
  fill_bar(painter, inner, series, ground);
  if (inner.width() < kLeastLabel || inner.height() < kLeastLabel) return;
  const QFontMetricsF metrics(painter.font());
  const bool numbered = of_several && tile.layer >= 0;
  const QString label = numbered ? QString::number(tile.layer) : nameOf(tile);
  // Numbers of layers are complete or missing; names may be elided.
  const double least = metrics.horizontalAdvance(numbered ? label : QStringLiteral("mmm"));
  if (inner.height() < metrics.height() + 2 || inner.width() < least + 4) return;
  const QString shown = metrics.elidedText(label, Qt::ElideRight, inner.width() - 4);
  const double width = std::min(metrics.horizontalAdvance(shown) + 4, inner.width());
  const QRectF text(inner.left() + std::min(2.0, (inner.width() - width) / 2), inner.top() + 1, width,
                    metrics.height());
  if (series.fill != BarFill::Solid) painter.fillRect(text, ground);
  const QColor below = series.fill == BarFill::Solid ? series.color : ground;
  painter.setPen(readable(Theme::instance().colors().text, below));
  painter.drawText(text, Qt::AlignCenter, shown);
}

void MemoryTreemap::paint(QPainter& painter, const QRectF& rect, const QColor& ground) const {
  if (tiles_.empty()) return;
  const Colors& colors = Theme::instance().colors();
  const Boxes& boxes = this->boxes(rect);
  painter.save();
  painter.setFont(Theme::instance().uiFont(11));
  const QFontMetricsF metrics(painter.font());
  for (const Box& of : boxes.contributors) paintTiles(painter, boxes, of, ground);
  const auto title = [&](const Box& box, const QString& text) {
    if (box.title.isEmpty()) return;
    const QRectF at(box.rect.left() + 4, box.rect.top(), box.rect.width() - 8, kTitle);
    painter.setPen(colors.text);
    painter.drawText(at, Qt::AlignLeft | Qt::AlignVCenter,
                     metrics.elidedText(text, Qt::ElideRight, at.width()));
  };
  for (const Box& box : boxes.contributors) title(box, box.title);
  painter.setFont(Theme::instance().uiFont(11, QFont::DemiBold));
  for (const Box& box : boxes.categories) {
    const auto category = static_cast<size_t>(contributor(tiles_[box.first]).category);
    title(box, box.title + QStringLiteral(" · ") + rank_bytes_text(memory().at_peak[category], units_));
    painter.setPen(QPen(colors.line, 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(box.rect.adjusted(0.5, 0.5, -0.5, -0.5));
  }
  paintMarks(painter, boxes);
  painter.restore();
}

// Marked tiles that are too small for frames of their own share one, by contributor.
void MemoryTreemap::paintMarks(QPainter& painter, const Boxes& boxes) const {
  const Colors& colors = Theme::instance().colors();
  painter.setBrush(Qt::NoBrush);
  const auto frame = [&](const QRectF& rect, bool chosen) {
    painter.setPen(QPen(chosen ? colors.text : colors.accent, chosen ? 2 : 1));
    painter.drawRect(rect.adjusted(1, 1, -1, -1));
  };
  for (const Box& of : boxes.contributors) {
    QRectF small;
    for (size_t i = of.first; i < of.end; ++i) {
      if (!marked_[i] || static_cast<int>(i) == selected_) continue;
      const QRectF& tile = boxes.tiles[i];
      if (tile.width() < kLeastFrame || tile.height() < kLeastFrame)
        small |= tile;
      else
        frame(tile, false);
    }
    if (!small.isNull()) frame(small, false);
  }
  if (selected_ >= 0) frame(boxes.tiles[static_cast<size_t>(selected_)], true);
}

int MemoryTreemap::tileAt(const QPointF& at) const {
  const Boxes& boxes = this->boxes(QRectF(rect()));
  for (const Box& of : boxes.contributors) {
    if (!of.rect.contains(at)) continue;
    for (size_t i = of.first; i < of.end; ++i)
      if (boxes.tiles[i].contains(at)) return static_cast<int>(i);
  }
  return -1;
}

QString MemoryTreemap::tipAt(const QPointF& at) const {
  const int tile = tileAt(at);
  if (tile < 0) return {};
  const PeakTile& of = tiles_[static_cast<size_t>(tile)];
  return nameOf(of) + u'\n' + text_of(memory_category_label(contributor(of).category)) +
         QStringLiteral(": ") + textOf(of);
}

void MemoryTreemap::choose(int tile) {
  select(tile);
  Q_EMIT tileSelected(selected_);
}

void MemoryTreemap::click(const QPointF& at, Qt::KeyboardModifiers) {
  if (const int tile = tileAt(at); tile >= 0) choose(tile);
}

bool MemoryTreemap::go(Way way, Qt::KeyboardModifiers) {
  const auto by_bytes = [&](const PeakTile& a, const PeakTile& b) { return a.bytes < b.bytes; };
  const auto index = [&](auto tile) { return static_cast<int>(tile - tiles_.begin()); };
  if (way == Way::PageUp || way == Way::PageDown) return false;
  if (way == Way::Last) return choose(index(std::min_element(tiles_.begin(), tiles_.end(), by_bytes))), true;
  if (way == Way::First || selected_ < 0)
    return choose(index(std::max_element(tiles_.begin(), tiles_.end(), by_bytes))), true;
  // The nearest tile whose centre lies in the direction; sideways distance counts twice.
  const std::vector<QRectF>& rects = boxes(QRectF(rect())).tiles;
  const QPointF from = rects[static_cast<size_t>(selected_)].center();
  int best = -1;
  double least = std::numeric_limits<double>::max();
  for (size_t i = 0; i < rects.size(); ++i) {
    const QPointF by = rects[i].center() - from;
    const bool across = way == Way::Left || way == Way::Right;
    const double ahead = (across ? by.x() : by.y()) * (way == Way::Left || way == Way::Up ? -1 : 1);
    const double aside = std::abs(across ? by.y() : by.x());
    if (ahead < 0.5 || ahead + 2 * aside >= least) continue;
    least = ahead + 2 * aside;
    best = static_cast<int>(i);
  }
  if (best >= 0) choose(best);
  return true;
}

bool MemoryTreemap::activate() {
  if (selected_ < 0) return false;
  choose(selected_);
  return true;
}

bool MemoryTreemap::clear() {
  choose(-1);
  return true;
}

}  // namespace shardscape::ui
