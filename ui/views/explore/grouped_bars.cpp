#include "ui/views/explore/grouped_bars.h"

#include <QPainter>
#include <algorithm>
#include <cmath>

#include "ui/plot/design_overlay.h"
#include "ui/session/comparisons.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

// Heights of a bar and of the gap below it; the value text is as high as both.
constexpr double kBar = 9, kPitch = 14, kBetweenBars = 10, kTitle = 24, kBetween = 28, kLabel = 150,
                 kLetter = 14, kValue = 62;
// The groups that are drawn: parts of a sum, with one unit.
constexpr FigureGroup kDrawn[] = {FigureGroup::StepParts, FigureGroup::Memory};

}  // namespace

QString group_text(FigureGroup group) {
  const std::string_view label = figure_group_label(group);
  return QString::fromUtf8(label.data(), static_cast<qsizetype>(label.size()));
}

QString figure_text(FigureKind kind, double value, UnitSystem units) {
  if (std::isnan(value)) return QStringLiteral("-");
  const QString sign = value < 0 ? QStringLiteral("-") : QString();
  const double size = std::fabs(value);
  switch (kind) {
    case FigureKind::Seconds: return sign + QString::fromStdString(format_seconds(size));
    case FigureKind::Bytes: return sign + bytes_text(static_cast<Wide>(std::llround(size)), units);
    case FigureKind::Share: return sign + percent_text(size);
    case FigureKind::Rate:
      return sign + (size >= 10000 ? grouped_text(static_cast<Wide>(std::llround(size)))
                                   : QString::fromStdString(significant(size, 4)));
    case FigureKind::Count: return sign + grouped_text(static_cast<Wide>(std::llround(size)));
  }
  return {};
}

QString compared_text(const ComparedFigure& figure, int member, UnitSystem units) {
  const auto at = static_cast<size_t>(member);
  const QString value = figure_text(figure.kind, figure.values[at], units),
                percent = QString::fromStdString(figure.percent(0, at));
  if (member == 0 || percent.isEmpty()) return value;
  return GroupedBars::tr("%1 (%2 − %3: %4)")
      .arg(value, Comparisons::letter(0), Comparisons::letter(member), percent);
}

GroupedBars::GroupedBars(QWidget* parent)
    : Canvas(QStringLiteral("grouped_bars"), tr("Compared designs: step time and memory by part"), parent) {}

void GroupedBars::setFigures(std::vector<ComparedFigure> figures, UnitSystem units) {
  figures_ = std::move(figures);
  marked_.clear();
  focused_row_ = -1;
  units_ = units;
  groups_.clear();
  for (const FigureGroup group : kDrawn)
    if (std::any_of(figures_.begin(), figures_.end(), [&](const auto& f) { return f.group == group; }))
      groups_.push_back(group);
  setMinimumHeight(fullHeight());
  updateGeometry();
  update();
}

int GroupedBars::designs() const {
  return figures_.empty() ? 1 : static_cast<int>(figures_.front().values.size());
}

double GroupedBars::rowHeight() const { return designs() * kPitch + kBetweenBars; }

double GroupedBars::columnWidth(const QRectF& rect) const {
  const auto columns = static_cast<double>(std::max<size_t>(1, groups_.size()));
  return (rect.width() - kBetween * (columns - 1)) / columns;
}

std::vector<GroupedBars::Row> GroupedBars::rows() const { return rowsIn(QRectF(rect())); }

std::vector<GroupedBars::Row> GroupedBars::rowsIn(const QRectF& rect) const {
  std::vector<Row> rows;
  const double wide = columnWidth(rect), label = std::min(kLabel, wide * 0.36),
               track = std::max(20.0, wide - label - kLetter - kValue);
  for (int g = 0; g < static_cast<int>(groups_.size()); ++g) {
    double most = 0;
    for (const ComparedFigure& figure : figures_)
      if (figure.group == groups_[static_cast<size_t>(g)])
        for (double value : figure.values) most = std::max(most, std::isnan(value) ? 0 : value);
    double y = rect.top() + kTitle;
    const double left = rect.left() + g * (wide + kBetween);
    for (size_t f = 0; f < figures_.size(); ++f) {
      if (figures_[f].group != groups_[static_cast<size_t>(g)]) continue;
      Row row{g, static_cast<int>(f), QRectF(left, y, wide, rowHeight()), {}};
      for (int d = 0; d < designs(); ++d) {
        const double value = figures_[f].values[static_cast<size_t>(d)];
        const double length = most > 0 && !std::isnan(value)
                                  ? std::max(value > 0 ? 1.0 : 0.0, track * value / most)
                                  : 0;
        const int place = designs() > 1 ? Comparisons::place(d) : d;
        row.bars.emplace_back(left + label + kLetter,
                              y + kBetweenBars / 2 + place * kPitch + (kPitch - kBar) / 2, length, kBar);
      }
      rows.push_back(std::move(row));
      y += rowHeight();
    }
  }
  return rows;
}

int GroupedBars::fullHeight() const {
  std::ptrdiff_t most = 0;
  for (const FigureGroup group : groups_)
    most = std::max(most, std::count_if(figures_.begin(), figures_.end(),
                                        [&](const ComparedFigure& f) { return f.group == group; }));
  return static_cast<int>(kTitle + static_cast<double>(most) * rowHeight() + 4);
}

void GroupedBars::setMarked(std::vector<int> figures) {
  if (figures == marked_) return;
  marked_ = std::move(figures);
  update();
}

void GroupedBars::click(const QPointF& at, Qt::KeyboardModifiers) {
  const std::vector<Row> all = rows();
  const auto hit = std::find_if(all.begin(), all.end(),
                                [&](const Row& row) { return row.area.contains(at); });
  if (hit == all.end()) return Q_EMIT cleared();
  focused_row_ = static_cast<int>(hit - all.begin());
  Q_EMIT figureSelected(hit->figure);
}

void GroupedBars::goTo(int row) {
  const std::vector<Row> all = rows();
  focused_row_ = std::clamp(row, 0, static_cast<int>(all.size()) - 1);
  setAccessibleDescription(tipAt(all[static_cast<size_t>(focused_row_)].area.center()));
  Q_EMIT figureSelected(all[static_cast<size_t>(focused_row_)].figure);
}

bool GroupedBars::go(Way way, Qt::KeyboardModifiers) {
  switch (way) {
    case Way::Up: goTo(std::max(0, focused_row_ - 1)); return true;
    case Way::Down: goTo(focused_row_ + 1); return true;
    case Way::First: goTo(0); return true;
    case Way::Last: goTo(static_cast<int>(figures_.size())); return true;
    case Way::Left:
    case Way::Right:
    case Way::PageUp:
    case Way::PageDown: break;
  }
  return false;
}

bool GroupedBars::activate() {
  goTo(focused_row_);
  return true;
}

bool GroupedBars::clear() {
  Q_EMIT cleared();
  return true;
}

void GroupedBars::paintWindow(QPainter& painter, const QRect& exposed) {
  Canvas::paintWindow(painter, exposed);
  painter.setBrush(Qt::NoBrush);
  painter.setPen(
      QPen(Theme::instance().colors().text, 1.6));  // the same frame as for bar segments of other charts
  for (const Row& row : rows())
    if (std::find(marked_.begin(), marked_.end(), row.figure) != marked_.end())
      for (const QRectF& bar : row.bars) painter.drawRect(bar.adjusted(-1, -1, 1, 1));
}

void GroupedBars::paint(QPainter& painter, const QRectF& rect, const QColor&) const {
  const Theme& theme = Theme::instance();
  const Colors& colors = theme.colors();
  const QFont small = theme.uiFont(11), plain = theme.uiFont(12), strong = theme.uiFont(12, QFont::DemiBold);
  const QFontMetricsF metrics(strong);
  const double wide = columnWidth(rect), label = std::min(kLabel, wide * 0.36);
  painter.save();
  painter.setFont(strong);
  painter.setPen(colors.text);
  for (int g = 0; g < static_cast<int>(groups_.size()); ++g)
    painter.drawText(QRectF(rect.left() + g * (wide + kBetween), rect.top(), wide, kTitle - 4),
                     Qt::AlignLeft | Qt::AlignVCenter,
                     metrics.elidedText(group_text(groups_[static_cast<size_t>(g)]), Qt::ElideRight, wide));
  for (const Row& row : rowsIn(rect)) {
    const ComparedFigure& figure = figures_[static_cast<size_t>(row.figure)];
    painter.fillRect(QRectF(row.area.left(), row.area.top(), row.area.width(), 1), colors.line);
    painter.setFont(plain);
    painter.setPen(colors.text);
    painter.drawText(QRectF(row.area.left(), row.area.top() + 1, label - 4, row.area.height() - 1),
                     Qt::AlignLeft | Qt::AlignVCenter | Qt::TextWordWrap,
                     QString::fromStdString(figure.label));
    painter.setFont(small);
    for (int d = 0; d < designs(); ++d) {
      const QRectF& bar = row.bars[static_cast<size_t>(d)];
      const double middle = bar.center().y();
      painter.fillRect(bar, theme.designColor(d));
      painter.setPen(colors.secondary);
      painter.drawText(QRectF(bar.left() - kLetter, middle - kPitch / 2, kLetter - 4, kPitch),
                       Qt::AlignLeft | Qt::AlignVCenter, Comparisons::letter(d));
      painter.setPen(d == 0 ? colors.text : colors.secondary);
      painter.drawText(QRectF(bar.right() + 5, middle - kPitch / 2, kValue, kPitch),
                       Qt::AlignLeft | Qt::AlignVCenter | Qt::TextDontClip,
                       figure_text(figure.kind, figure.values[static_cast<size_t>(d)], units_));
    }
  }
  painter.restore();
}

QString GroupedBars::tipAt(const QPointF& point) const {
  for (const Row& row : rows()) {
    if (!row.area.contains(point)) continue;
    const ComparedFigure& figure = figures_[static_cast<size_t>(row.figure)];
    QStringList lines{QString::fromStdString(figure.label)};
    for (int place = 0; place < designs(); ++place) {
      const int d = designs() > 1 ? Comparisons::place(place) : place;
      lines << of_design(d, compared_text(figure, d, units_));
    }
    return lines.join(u'\n');
  }
  return {};
}

}  // namespace shardscape::ui
