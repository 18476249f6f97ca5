// Draws pinned designs in a chart of the present design: letters, marks, legend and lines, the same in all
// views. member: 0 is the present design, 1 and up are pinned designs (Comparisons::letter). Colours:
// Theme::designColor.
#pragma once

#include <QPainter>
#include <QString>
#include <vector>

namespace shardscape::ui {

// A letter on a square of the design's colour. Not filled: only the outline of the square.
void paint_design_letter(QPainter& painter, const QRectF& box, const QString& letter, const QColor& color,
                         const QColor& ground, bool filled = true);
// The point of a design, drawn above other points with a rim in the ground colour.
void paint_design_mark(QPainter& painter, const QPointF& at, int member, const QColor& ground);
// The point of the present design while none is pinned: a diamond with its name, inside the plot.
void paint_present_mark(QPainter& painter, const QPointF& at, const QRectF& plot, const QString& name,
                        const QColor& ground);
// The letter alone in a readable shade of its colour. baseline: its left end.
void paint_letter_at(QPainter& painter, const QPointF& baseline, int member, const QColor& ground);

// A legend: for each member a line or ring and the letter, from left to right.
enum class DesignSign { Line, Ring };
void paint_design_legend(QPainter& painter, const QPointF& left_middle, const std::vector<int>& members,
                         DesignSign sign = DesignSign::Line);
double design_legend_width(size_t members);

QPen design_pen(int member, double width, bool dashed = false);
QString of_design(int member, const QString& text);  // "B: 12.3 GiB"

// The members of a legend: `first`, then the members of `others`.
template <typename Others>
std::vector<int> members_of(const Others& others, std::vector<int> first = {}) {
  for (const auto& other : others) first.push_back(other.member);
  return first;
}

}  // namespace shardscape::ui
