#include "ui/views/explore/filter_strips.h"

#include <QKeyEvent>
#include <QPainter>
#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "ui/plot/axis_scale.h"
#include "ui/toolkit/contrast.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

constexpr int kFigureBins = 24, kMostBins = 48;
constexpr double kLeastWidth = 58, kGap = 12, kHeading = 15, kTallBars = 28, kFlatBars = 16, kLabels = 13,
                 kBelow = kLabels + 6;
constexpr const char* kStripFigures[] = {"step_time", "memory", "mfu"};

uint64_t all_of(size_t bins) { return bins >= 64 ? ~uint64_t{0} : (uint64_t{1} << bins) - 1; }

}  // namespace

FilterStrips::FilterStrips(QWidget* parent)
    : Canvas(QStringLiteral("filters"), tr("Filters: which values designs may have"), parent),
      bars_(kTallBars) {}

void FilterStrips::setRows(std::shared_ptr<const ExploreRows> rows) {
  std::map<QString, std::pair<QStringList, uint64_t>> before;
  if (rows_)
    for (const Strip& strip : strips_)
      if (strip.mask != all_of(strip.open.size()))
        before[rows_->column(strip.column).id] = {rows_->column(strip.column).choices, strip.mask};
  rows_ = std::move(rows);
  strips_.clear();
  pressed_ = {};
  if (rows_)
    for (int c = 0; c < static_cast<int>(rows_->columns().size()); ++c) {
      const ValueColumn& column = rows_->column(c);
      const bool figure = std::any_of(std::begin(kStripFigures), std::end(kStripFigures),
                                      [&](const char* id) { return column.id == QLatin1String(id); });
      if (!column.axis() && !figure) continue;
      Strip strip;
      strip.column = c;
      const auto bins = static_cast<size_t>(
          column.axis() ? std::min<qsizetype>(kMostBins, column.choices.size()) : kFigureBins);
      strip.logarithmic = !column.axis() && spans_decades(column.low, column.high);
      strip.open.assign(bins, 0);
      strip.mask = all_of(bins);
      const auto place = [&](double value) { return strip.logarithmic ? std::log(value) : value; };
      const double low = column.known() ? place(column.low) : 0,
                   span = column.known() ? place(column.high) - low : 0;
      for (double value : column.values) {
        double bin = 0;
        if (!std::isnan(value))
          bin = span > 0 ? (place(value) - low) / span * static_cast<double>(column.axis() ? bins - 1 : bins)
                         : 0;
        strip.bin.push_back(static_cast<uint8_t>(std::clamp(column.axis() ? std::round(bin) : std::floor(bin),
                                                            0.0, static_cast<double>(bins) - 1)));
      }
      if (const auto it = before.find(column.id);
          it != before.end() && it->second.first == column.choices && column.axis())
        strip.mask = it->second.second;
      strips_.push_back(std::move(strip));
    }
  at_strip_ = std::clamp(at_strip_, 0, std::max(0, strips() - 1));
  at_bin_ = 0;
  recount();
  updateGeometry();
}

void FilterStrips::setUnits(UnitSystem units) {
  units_ = units;
  update();
}

void FilterStrips::setFlat(bool flat) {
  bars_ = flat ? kFlatBars : kTallBars;
  updateGeometry();
  update();
}

int FilterStrips::strip(const QString& column) const {
  for (int i = 0; i < strips(); ++i)
    if (rows_->column(strips_[static_cast<size_t>(i)].column).id == column) return i;
  return -1;
}

bool FilterStrips::allowed(int strip, int bin) const {
  return strips_[static_cast<size_t>(strip)].mask >> bin & 1;
}

bool FilterStrips::filtering() const {
  return std::any_of(strips_.begin(), strips_.end(),
                     [](const Strip& s) { return s.mask != all_of(s.open.size()); });
}

std::vector<char> FilterStrips::passing() const {
  if (!filtering()) return {};
  std::vector<char> out(failed_.size());
  std::transform(failed_.begin(), failed_.end(), out.begin(), [](uint8_t failed) { return failed == 0; });
  return out;
}

void FilterStrips::recount() {
  const size_t count = rows_ ? static_cast<size_t>(rows_->rows()) : 0;
  failed_.assign(count, 0);
  for (const Strip& strip : strips_) {
    if (strip.mask == all_of(strip.open.size())) continue;
    for (size_t row = 0; row < count; ++row)
      failed_[row] = static_cast<uint8_t>(failed_[row] + !(strip.mask >> strip.bin[row] & 1));
  }
  passed_ = static_cast<int>(std::count(failed_.begin(), failed_.end(), 0));
  for (Strip& strip : strips_) {
    std::fill(strip.open.begin(), strip.open.end(), 0);
    for (size_t row = 0; row < count; ++row)
      if (failed_[row] == 0 || (failed_[row] == 1 && !(strip.mask >> strip.bin[row] & 1)))
        ++strip.open[strip.bin[row]];
  }
  update();
}

void FilterStrips::notifyChanged() {
  recount();
  describe();
  Q_EMIT changed();
}

void FilterStrips::describe() {
  if (strips_.empty()) return;
  const Strip& strip = strips_[static_cast<size_t>(at_strip_)];
  setAccessibleDescription(rows_->column(strip.column).label + u' ' + binText(strip, at_bin_, at_bin_) +
                           (allowed(at_strip_, at_bin_) ? tr(", shown") : tr(", left out")));
}

void FilterStrips::brush(int strip, int first, int last) {
  Strip& of = strips_[static_cast<size_t>(strip)];
  uint64_t mask = 0;
  for (int bin = std::min(first, last); bin <= std::max(first, last); ++bin) mask |= uint64_t{1} << bin;
  of.mask = mask;
  notifyChanged();
}

void FilterStrips::toggle(int strip, int bin) {
  Strip& of = strips_[static_cast<size_t>(strip)];
  const uint64_t bit = uint64_t{1} << bin, all = all_of(of.open.size());
  of.mask = of.mask == all ? bit : of.mask ^ bit;  // the first chosen bin is the only one
  if (of.mask == 0) of.mask = all;
  notifyChanged();
}

void FilterStrips::open(Strip& strip) {
  strip.mask = all_of(strip.open.size());
  notifyChanged();
}

void FilterStrips::openAll() {
  for (Strip& strip : strips_) strip.mask = all_of(strip.open.size());
  notifyChanged();
}

QRectF FilterStrips::area(int strip) const {
  const int per_line = std::max(1, static_cast<int>((width() + kGap) / (kLeastWidth + kGap)));
  const int lines = std::max(1, (strips() + per_line - 1) / per_line),
            used = (strips() + lines - 1) / std::max(1, lines);
  const double wide = (width() + kGap) / std::max(1, used) - kGap, tall = kHeading + bars_ + kBelow;
  return {(strip % std::max(1, used)) * (wide + kGap), (strip / std::max(1, used)) * tall, wide,
          tall - kBelow};
}

QRectF FilterStrips::barRect(int strip, int bin) const {
  const QRectF all = area(strip);
  const double wide = all.width() / bins(strip);
  return {all.left() + bin * wide, all.top() + kHeading, wide, bars_};
}

int FilterStrips::heightFor(int width) const {
  const int per_line = std::max(1, static_cast<int>((width + kGap) / (kLeastWidth + kGap)));
  return static_cast<int>(std::max(1, (strips() + per_line - 1) / per_line) * (kHeading + bars_ + kBelow));
}

QSize FilterStrips::sizeHint() const { return {400, heightFor(std::max(width(), 320))}; }

QString FilterStrips::binText(const Strip& strip, int first, int last) const {
  const ValueColumn& column = rows_->column(strip.column);
  const auto bins = static_cast<double>(strip.open.size());
  const auto text = [&](double value) { return ExploreRows::valueText(column, value, units_); };
  if (column.axis()) {
    const double each = bins > 1 ? (static_cast<double>(column.choices.size()) - 1) / (bins - 1) : 0;
    return first == last ? text(first * each)
                         : text(first * each) + QStringLiteral(" … ") + text(last * each);
  }
  const auto edge = [&](int bin) {
    const double share = bin / bins;
    return strip.logarithmic ? column.low * std::pow(column.high / column.low, share)
                             : column.low + (column.high - column.low) * share;
  };
  return text(edge(first)) + QStringLiteral(" … ") + text(edge(last + 1));
}

void FilterStrips::paintWindow(QPainter& painter, const QRect&) {
  const Colors& colors = Theme::instance().colors();
  const QFont small = Theme::instance().uiFont(11), strong = Theme::instance().uiFont(11, QFont::DemiBold);
  const QColor out = mixed(colors.ground, colors.secondary, 0.22),
               in = mixed(colors.ground, colors.accent, 0.62);
  for (int s = 0; s < strips(); ++s) {
    const Strip& strip = strips_[static_cast<size_t>(s)];
    const QRectF all = area(s);
    const bool brushed = strip.mask != all_of(strip.open.size());
    const int most = std::max(1, *std::max_element(strip.open.begin(), strip.open.end()));
    QString heading = rows_->column(strip.column).heading;
    if (brushed) {  // a range shows its ends
      const int first = std::countr_zero(strip.mask), last = 63 - std::countl_zero(strip.mask);
      const bool stretch = std::popcount(strip.mask) == last - first + 1;
      heading += u' ' +
                 (stretch ? binText(strip, first, last) : tr("%1 values").arg(std::popcount(strip.mask)));
    }
    painter.setFont(brushed ? strong : small);
    painter.setPen(brushed ? readable(colors.accent, colors.ground) : colors.secondary);
    painter.drawText(QRectF(all.left(), all.top(), all.width(), kHeading - 1),
                     Qt::AlignLeft | Qt::AlignVCenter,
                     QFontMetricsF(painter.font()).elidedText(heading, Qt::ElideRight, all.width()));
    for (int bin = 0; bin < bins(s); ++bin) {
      const QRectF box = barRect(s, bin);
      const double gap = box.width() > 5 ? 1 : 0;
      const int count = strip.open[static_cast<size_t>(bin)];
      const double height = count == 0 ? 1 : std::max(2.0, (bars_ - 3) * count / most);
      const bool on = strip.mask >> bin & 1;
      if (brushed && on) painter.fillRect(box, colors.accent_soft);
      painter.fillRect(
          QRectF(box.left() + gap / 2, box.bottom() - height, std::max(1.0, box.width() - gap), height),
          count == 0 ? colors.line
          : on       ? in
                     : out);
    }
    painter.fillRect(QRectF(all.left(), all.bottom(), all.width(), 1), colors.line);
    paintLabels(painter, s);
    if (focusShown() && s == at_strip_) {
      painter.fillRect(QRectF(all.left(), all.bottom(), all.width(), 1), colors.accent);
      const QRectF box = barRect(s, at_bin_);
      painter.fillRect(QRectF(box.left(), box.bottom() + 1, std::max(4.0, box.width()), 3), colors.accent);
    }
  }
}

// The values below the bars: each one if all have room, else the two ends.
std::vector<FilterStrips::Label> FilterStrips::labels(int strip) const {
  const Strip& of = strips_[static_cast<size_t>(strip)];
  const ValueColumn& column = rows_->column(of.column);
  const QFontMetricsF metrics(Theme::instance().uiFont(10));
  const QRectF all = area(strip);
  const double top = all.bottom() + 3;
  std::vector<Label> out;
  if (column.axis() && column.choices.size() == bins(strip)) {
    double end = all.left() - 4;
    for (int bin = 0; bin < bins(strip); ++bin) {
      const double wide = metrics.horizontalAdvance(column.choices[bin]) + 1;
      const double left = std::clamp(barRect(strip, bin).center().x() - wide / 2, all.left(),
                                     std::max(all.left(), all.right() - wide));
      if (left < end + 3 || left + wide > all.right() + 1) break;
      out.push_back({QRectF(left, top, wide, kLabels), column.choices[bin]});
      end = left + wide;
    }
    if (out.size() == static_cast<size_t>(bins(strip))) return out;
    out.clear();
  }
  const auto text = [&](double value) { return ExploreRows::valueText(column, value, units_); };
  if (!column.axis() && !column.known()) return out;
  const double low = column.axis() ? 0 : column.low;
  const double high = column.axis() ? static_cast<double>(column.choices.size()) - 1 : column.high;
  const QString first = text(low), last = high > low ? text(high) : QString();
  const double one = metrics.horizontalAdvance(first) + 1, other = metrics.horizontalAdvance(last) + 1;
  const bool both = one + other + 4 <= all.width();
  const double half = all.width() / 2 - 2;
  // An end that needs less than its half leaves the rest to the other one.
  const double left = both ? one : last.isEmpty() ? all.width() : std::max(half, all.width() - 4 - other);
  const double right = both ? other : std::max(half, all.width() - 4 - one);
  const auto fitted = [&](const QString& words, double room) {
    return metrics.elidedText(words, Qt::ElideRight, room);
  };
  const double left_room = std::min(left, one), right_room = std::min(right, all.width() - 4 - left_room);
  out.push_back({QRectF(all.left(), top, left_room, kLabels), fitted(first, left_room)});
  if (!last.isEmpty())
    out.push_back(
        {QRectF(all.right() - std::min(right_room, other), top, std::min(right_room, other), kLabels),
         fitted(last, std::min(right_room, other))});
  return out;
}

void FilterStrips::paintLabels(QPainter& painter, int strip) const {
  painter.setFont(Theme::instance().uiFont(10));
  painter.setPen(Theme::instance().colors().secondary);
  for (const Label& label : labels(strip))
    painter.drawText(label.place, Qt::AlignLeft | Qt::AlignVCenter | Qt::TextDontClip, label.text);
}

FilterStrips::Hit FilterStrips::hit(const QPointF& point) const {
  for (int s = 0; s < strips(); ++s) {
    const QRectF all = area(s);
    if (!all.adjusted(-2, 0, 2, kBelow - 2).contains(point)) continue;
    return {s,
            std::clamp(static_cast<int>((point.x() - all.left()) / all.width() * bins(s)), 0, bins(s) - 1)};
  }
  return {};
}

QString FilterStrips::tipAt(const QPointF& point) const {
  const Hit at = hit(point);
  if (at.strip < 0) return {};
  const Strip& strip = strips_[static_cast<size_t>(at.strip)];
  return tr("%1 %2: %3 of %4 kept designs\nDrag over values to keep only these, Ctrl+click for one more, "
            "double click for all")
      .arg(rows_->column(strip.column).label, binText(strip, at.bin, at.bin),
           grouped_text(strip.open[static_cast<size_t>(at.bin)]), grouped_text(rows_->rows()));
}

void FilterStrips::click(const QPointF& point, Qt::KeyboardModifiers held) {
  pressed_ = {};
  const Hit at = hit(point);
  if (at.strip < 0) return;
  at_strip_ = at.strip;
  at_bin_ = anchor_ = at.bin;
  if (held & Qt::ControlModifier) return toggle(at.strip, at.bin);
  pressed_ = at;
  Strip& strip = strips_[static_cast<size_t>(at.strip)];
  if (strip.mask == uint64_t{1} << at.bin)
    return open(strip);  // a click on the only chosen bin clears the brush
  brush(at.strip, at.bin, at.bin);
}

bool FilterStrips::drag(const QPointF& to) {
  if (pressed_.strip < 0) return false;
  const QRectF all = area(pressed_.strip);
  const int bin = std::clamp(static_cast<int>((to.x() - all.left()) / all.width() * bins(pressed_.strip)), 0,
                             bins(pressed_.strip) - 1);
  if (bin != at_bin_) brush(pressed_.strip, pressed_.bin, at_bin_ = bin);
  return true;
}

void FilterStrips::doubleClick(const QPointF& point) {
  const Hit at = hit(point);
  at.strip < 0 ? openAll() : open(strips_[static_cast<size_t>(at.strip)]);
}

void FilterStrips::step(int by) {
  at_bin_ += by;
  if (at_bin_ < 0 && at_strip_ > 0)
    at_bin_ = bins(--at_strip_) - 1;
  else if (at_bin_ >= bins(at_strip_) && at_strip_ + 1 < strips()) {
    ++at_strip_;
    at_bin_ = 0;
  }
  at_bin_ = anchor_ = std::clamp(at_bin_, 0, bins(at_strip_) - 1);
}

bool FilterStrips::go(Way way, Qt::KeyboardModifiers held) {
  switch (way) {
    case Way::Left:
    case Way::Right: {
      const int by = way == Way::Left ? -1 : 1;
      if (held & Qt::ShiftModifier) {
        at_bin_ = std::clamp(at_bin_ + by, 0, bins(at_strip_) - 1);
        brush(at_strip_, anchor_, at_bin_);
        return true;
      }
      step(by);
      break;
    }
    case Way::Up:
    case Way::Down:
      at_strip_ = std::clamp(at_strip_ + (way == Way::Up ? -1 : 1), 0, strips() - 1);
      at_bin_ = anchor_ = std::min(at_bin_, bins(at_strip_) - 1);
      break;
    case Way::First: at_bin_ = anchor_ = 0; break;
    case Way::Last: at_bin_ = anchor_ = bins(at_strip_) - 1; break;
    case Way::PageUp:
    case Way::PageDown: return false;
  }
  describe();
  return true;
}

bool FilterStrips::activate() {
  toggle(at_strip_, at_bin_);
  return true;
}

bool FilterStrips::clear() {
  open(strips_[static_cast<size_t>(at_strip_)]);
  return true;
}

bool FilterStrips::otherKey(const QKeyEvent& event) {
  if (event.key() != Qt::Key_Backspace && event.key() != Qt::Key_Delete) return false;
  openAll();
  return true;
}

}  // namespace shardscape::ui
