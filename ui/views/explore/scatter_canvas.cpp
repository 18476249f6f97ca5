#include "ui/views/explore/scatter_canvas.h"

#include <algorithm>
#include <cmath>

#include "ui/toolkit/theme.h"

namespace shardscape::ui {
namespace {

constexpr double kLeft = 60, kTop = 26, kRight = 18, kBottom = 40;
constexpr double kJitter = 0.3;       // share of the distance between values of an ordinal axis, to each side
constexpr double kLeastShare = 1e-4;  // the least visible share of an axis

// A pseudo-random offset that depends on the design only.
float jitter(Wide index, uint32_t salt) {
  uint64_t h = static_cast<uint64_t>(index) * 0x9E3779B97F4A7C15u + salt * 0xBF58476D1CE4E5B9u;
  h = (h ^ (h >> 31)) * 0x94D049BB133111EBu;
  h ^= h >> 29;
  return static_cast<float>((static_cast<double>(h >> 11) / 9007199254740992.0 * 2 - 1) * kJitter);
}

}  // namespace

ScatterCanvas::ScatterCanvas(QWidget* parent)
    : Canvas(QStringLiteral("scatter"), tr("Designs by two of their figures"), parent) {}

QRectF ScatterCanvas::plotOf(const QRectF& rect) const {
  return rect.adjusted(kLeft, kTop, -kRight, -kBottom);
}

void ScatterCanvas::setRows(std::shared_ptr<const ExploreRows> rows, const Columns& columns,
                            bool same_search) {
  const bool keep = same_search && columns == columns_ && !at_home_ && rows_;
  rows_ = std::move(rows);
  if (!(columns == columns_)) marked_.clear();  // marks have other figures in the new columns
  columns_ = columns;
  passing_.clear();
  selected_ = hovered_ = -1;
  chosen_.clear();
  layOut(keep);
}

void ScatterCanvas::layOut(bool keep_view) {
  xs_.clear();
  ys_.clear();
  front_.clear();
  if (!rows_ || columns_.x < 0 || columns_.y < 0) return stale();
  capacity_ = 0;
  for (int row = 0; row < rows_->rows(); ++row) {
    const auto capacity = static_cast<double>(rows_->point(row).evaluation.capacity);
    if (row > 0 && capacity != capacity_) {
      capacity_ = 0;
      break;
    }
    capacity_ = capacity;
  }
  const auto scaled = [&](int column, const AxisScale& before, double (QPointF::*of_point)() const) {
    const ValueColumn& of = rows_->column(column);
    std::vector<double> also;
    if (of.id == QStringLiteral("memory") && capacity_ > 0) also.push_back(capacity_);
    for (const Marked& marked : marked_) also.push_back((marked.values.*of_point)());
    AxisScale scale = scale_of(of, units_, also);
    if (keep_view && scale.logarithmic == before.logarithmic) {
      scale.from = before.from;
      scale.to = before.to;
    }
    return scale;
  };
  x_ = scaled(columns_.x, x_, &QPointF::x);
  y_ = scaled(columns_.y, y_, &QPointF::y);
  at_home_ = !keep_view;
  const auto count = static_cast<size_t>(rows_->rows());
  xs_.resize(count);
  ys_.resize(count);
  for (size_t row = 0; row < count; ++row) {
    const Wide index = rows_->index(static_cast<int>(row));
    xs_[row] = x_.place(rows_->value(static_cast<int>(row), columns_.x)) +
               (x_.ordinal ? jitter(index, 1) : 0);
    ys_[row] = y_.place(rows_->value(static_cast<int>(row), columns_.y)) +
               (y_.ordinal ? jitter(index, 2) : 0);
  }
  style_.set(*rows_, columns_.colour, columns_.shape, units_);
  filtered();
}

void ScatterCanvas::filtered() {
  front_ = rows_ ? front_of(*rows_, columns_.x, columns_.y, passing_) : std::vector<int>();
  stale();
}

void ScatterCanvas::setPassing(std::vector<char> passing) {
  passing_ = std::move(passing);
  if (selected_ >= 0 && !passes(selected_)) setSelected(-1);
  filtered();
}

void ScatterCanvas::setUnits(UnitSystem units) {
  if (units == units_) return;
  units_ = units;
  layOut(!at_home_);
}

void ScatterCanvas::setMarked(std::vector<Marked> marked) {
  marked_ = std::move(marked);
  const auto outside = [](const AxisScale& scale, double value) {
    return scale.place(value) < scale.low || scale.place(value) > scale.high;
  };
  const auto lies_outside = [&](const Marked& m) {
    return outside(x_, m.values.x()) || outside(y_, m.values.y());
  };
  if (rows_ && at_home_ && std::any_of(marked_.begin(), marked_.end(), lies_outside)) layOut(false);
  update();
}

QPointF ScatterCanvas::markedPlaceIn(const QRectF& plot, const Marked& marked) const {
  return {plot.left() + plot.width() * x_.share(marked.values.x()),
          plot.bottom() - plot.height() * y_.share(marked.values.y())};
}

QPointF ScatterCanvas::markedPlace(size_t at) const { return markedPlaceIn(plot(), marked_[at]); }

void ScatterCanvas::setSelected(int row) {
  selected_ = rows_ && row < rows_->rows() ? row : -1;
  describe();
  update();
}

void ScatterCanvas::setChosen(std::vector<int> rows) {
  chosen_ = std::move(rows);
  update();
}

void ScatterCanvas::select(int row) {
  setSelected(row);
  Q_EMIT rowSelected(selected_);
}

void ScatterCanvas::describe() {
  setAccessibleDescription(rows_ && selected_ >= 0 ? rows_->name(selected_) + QStringLiteral(": ") +
                                                         rows_->figures(selected_, units_)
                                                   : QString());
}

void ScatterCanvas::stale() {
  image_ = {};
  update();
}

double ScatterCanvas::radius() const {
  const int count = rows_ ? rows_->rows() : 0;
  return count < 3000 ? 3.6 : count < 30000 ? 2.8 : 2.2;
}

QPointF ScatterCanvas::placeIn(const QRectF& plot, int row) const {
  const auto i = static_cast<size_t>(row);
  return {plot.left() + plot.width() * (xs_[i] - x_.from) / (x_.to - x_.from),
          plot.bottom() - plot.height() * (ys_[i] - y_.from) / (y_.to - y_.from)};
}

QPointF ScatterCanvas::place(int row) const { return placeIn(plot(), row); }

void ScatterCanvas::fit() {
  for (AxisScale* scale : {&x_, &y_}) {
    scale->from = scale->low;
    scale->to = scale->high;
  }
  at_home_ = true;
  stale();
}

void ScatterCanvas::keepInReach() {
  for (AxisScale* scale : {&x_, &y_}) {
    const double whole = scale->high - scale->low;
    double span = std::clamp(scale->to - scale->from, whole * kLeastShare, whole);
    const double middle = (scale->from + scale->to) / 2;
    scale->from = std::clamp(middle - span / 2, scale->low, scale->high - span);
    scale->to = scale->from + span;
  }
  at_home_ = x_.to - x_.from >= 0.9999 * (x_.high - x_.low) && y_.to - y_.from >= 0.9999 * (y_.high - y_.low);
  stale();
}

void ScatterCanvas::zoomAt(double factor, const QPointF& at) {
  if (!rows_) return;
  const QRectF area = plot();
  const double sx = std::clamp((at.x() - area.left()) / area.width(), 0.0, 1.0),
               sy = std::clamp((area.bottom() - at.y()) / area.height(), 0.0, 1.0);
  const auto zoom = [factor](AxisScale& scale, double share) {
    const double span = scale.to - scale.from, fixed = scale.from + share * span;
    scale.from = fixed - share * span / factor;
    scale.to = scale.from + span / factor;
  };
  zoom(x_, sx);
  zoom(y_, sy);
  keepInReach();
}

void ScatterCanvas::zoomBy(double factor) {
  if (!rows_) return;
  zoomAt(factor, selected_ >= 0 && plot().contains(place(selected_)) ? place(selected_) : plot().center());
}

void ScatterCanvas::pan(const QPointF& pixels) {
  if (!rows_) return;
  const QRectF area = plot();
  const double dx = pixels.x() / area.width() * (x_.to - x_.from),
               dy = -pixels.y() / area.height() * (y_.to - y_.from);
  x_.from += dx;
  x_.to += dx;
  y_.from += dy;
  y_.to += dy;
  keepInReach();
}

void ScatterCanvas::reveal(int row) {
  if (!rows_ || row < 0 || plot().adjusted(-1, -1, 1, 1).contains(place(row))) return;
  pan(place(row) - plot().center());
}

int ScatterCanvas::rowAt(const QPointF& point) const {
  if (!rows_ || xs_.empty() || cell_.empty()) return -1;
  constexpr int kReach = 1;
  const QRectF area = plot();
  const double reach = radius() + 4;
  const int column = static_cast<int>((point.x() - area.left()) * grid_columns_ / area.width()),
            line = static_cast<int>((point.y() - area.top()) * grid_rows_ / area.height());
  int best = -1;
  double nearest = reach * reach;
  for (int r = std::max(0, line - kReach); r <= std::min(grid_rows_ - 1, line + kReach); ++r)
    for (int c = std::max(0, column - kReach); c <= std::min(grid_columns_ - 1, column + kReach); ++c)
      for (int row = cell_[static_cast<size_t>(r * grid_columns_ + c)]; row >= 0;
           row = next_[static_cast<size_t>(row)]) {
        const QPointF away = place(row) - point;
        const double distance = away.x() * away.x() + away.y() * away.y();
        if (distance < nearest || (distance == nearest && row < best)) {
          nearest = distance;
          best = row;
        }
      }
  return best;
}

// Selects the nearest point in this direction.
void ScatterCanvas::step(int dx, int dy) {
  if (!rows_ || xs_.empty()) return;
  if (selected_ < 0) return select(front_.empty() ? 0 : front_.front());
  const QPointF from = place(selected_);
  int best = -1;
  double least = 1e18;
  for (int row = 0; row < rows_->rows(); ++row) {
    if (row == selected_ || !passes(row)) continue;
    const QPointF away = place(row) - from;
    const double along = away.x() * dx + away.y() * dy,
                 across = std::fabs(away.x() * dy) + std::fabs(away.y() * dx);
    if (along < 0.5 || across > 3 * along) continue;
    const double cost = along + 2 * across;
    if (cost < least) {
      least = cost;
      best = row;
    }
  }
  if (best < 0) return;
  select(best);
  reveal(best);
}

void ScatterCanvas::resizeEvent(QResizeEvent*) { stale(); }

}  // namespace shardscape::ui
