// Pinned designs in a chart of the present one: letters, marks, legend and lines, the same in all views.
// member: 0 is the present design, 1 and up are pinned ones (Comparisons::letter). Colours:
// Theme::designColor.
#pragma once

#include <QPainter>
#include <QString>
#include <vector>

namespace shardscape::ui {

// A letter on a square of its colour; filled: else in outline on the ground.
void paint_design_letter(QPainter& painter, const QRectF& box, const QString& letter, const QColor& color,
                         const QColor& ground, bool filled = true);
// Where a design itself lies among the points of a chart: above them, on an edge of the ground.
void paint_design_mark(QPainter& painter, const QPointF& at, int member, const QColor& ground);
// The same for the present design where none is pinned: a diamond with its name, inside the plot.
void paint_present_mark(QPainter& painter, const QPointF& at, const QRectF& plot, const QString& name,
                        const QColor& ground);
// The letter alone in a readable shade of its colour. Its baseline starts there.
void paint_letter_at(QPainter& painter, const QPointF& baseline, int member, const QColor& ground);

// Which line or point belongs to whom: a sign and the letter for each, from the left.
enum class DesignSign { Line, Ring };
void paint_design_legend(QPainter& painter, const QPointF& left_middle, const std::vector<int>& members,
                         DesignSign sign = DesignSign::Line);
double design_legend_width(size_t members);

QPen design_pen(int member, double width, bool dashed = false);
QString of_design(int member, const QString& text);  // "B: 12.3 GiB"

// Members of a legend: first those given, then those of the list.
template <typename Others>
std::vector<int> members_of(const Others& others, std::vector<int> first = {}) {
  for (const auto& other : others) first.push_back(other.member);
  return first;
}

}  // namespace shardscape::ui
