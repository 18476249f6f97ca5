#include "ui/views/explore/designs_model.h"

#include <algorithm>
#include <cmath>

#include "ui/plot/missing_cost_line.h"
#include "ui/toolkit/band_tip.h"

namespace shardscape::ui {
namespace {

constexpr const char* kFirst[] = {"step_time", "memory", "mfu"};

QString raw_label(const ValueColumn& column) {
  switch (column.measure) {
    case Measure::Seconds: return column.id + QStringLiteral(" (s)");
    case Measure::Bytes: return column.id + QStringLiteral(" (bytes)");
    case Measure::Share: return column.id + QStringLiteral(" (share)");
    case Measure::Money: return column.id + QStringLiteral(" ($)");
    case Measure::Place:
    case Measure::Plain: break;
  }
  return column.id;
}

// How to set the price or the power that an unknown cost needs.
QString missing_tip(const ExploreRows& rows, int row, const QString& id) {
  const bool dollars = id == QStringLiteral("cost");
  if (!dollars && id != QStringLiteral("energy") && id != QStringLiteral("kwh")) return {};
  return missingCostTip(rows.cluster(row), dollars ? "price_per_hour" : "board_power");
}

// Breaks a long heading near the middle into two lines.
QString wrapped(const QString& heading) {
  constexpr int kShort = 9;
  if (heading.size() <= kShort) return heading;
  qsizetype best = -1;
  for (qsizetype at = heading.indexOf(u' '); at >= 0; at = heading.indexOf(u' ', at + 1))
    if (best < 0 || std::abs(2 * at - heading.size()) < std::abs(2 * best - heading.size())) best = at;
  return best < 0 ? heading : heading.left(best) + u'\n' + heading.mid(best + 1);
}

// Adds the 80 % band to step time and memory: "≈ 9.84 s (8.90 s to 10.8 s)". The sign marks ties with the
// best design.
void add_band(const ExploreRows& rows, int row, const ValueColumn& column, UnitSystem units,
              TableCell& cell) {
  const bool time = column.id == QStringLiteral("step_time");
  if (!time && column.id != QStringLiteral("memory")) return;
  const std::optional<ErrorBand>& band = time ? rows.bands(row).time : rows.bands(row).memory;
  if (!band || cell.sort.isNull()) return;
  const double value = cell.sort.toDouble();
  const QString range = DesignsModel::tr("%1 to %2")
                            .arg(ExploreRows::valueText(column, value * band->low, units),
                                 ExploreRows::valueText(column, value * band->high, units));
  cell.tip = bandTip(range, *band);
  if (time) {
    cell.text += QStringLiteral(" (%1)").arg(range);
    const PointJudgement judged = rows.judgedByBest(row);
    if (judged.confidence)
      cell.tip += u' ' + DesignsModel::tr("The best design is better with %1 % confidence.")
                             .arg(std::lround(100 * *judged.confidence));
    if (!judged.tie) return;
    cell.text.prepend(QStringLiteral("≈ "));
    cell.tip += u' ' + DesignsModel::tr("≈: a tie with the best design.");
    return;
  }
  const Evaluation& of = rows.point(row).evaluation;
  const int64_t over = bytes_over(of.memory, of.capacity, band);
  if (over == 0) return;
  cell.text += DesignsModel::tr(" may not fit");
  cell.tip += u' ' + DesignsModel::tr("The band reaches over the memory by %1.")
                         .arg(bytes_text(static_cast<Wide>(over), units));
}

}  // namespace

void DesignsModel::setDesigns(const ExploreRows& rows, const std::vector<char>& passing, UnitSystem units) {
  shown_.clear();
  for (int row = 0; row < rows.rows() && static_cast<int>(shown_.size()) < kMost; ++row)
    if (passing.empty() || passing[static_cast<size_t>(row)]) shown_.push_back(row);
  order_.clear();
  for (const char* id : kFirst)
    if (const int column = rows.column(QLatin1String(id)); column >= 0) order_.push_back(column);
  for (int column = 0; column < static_cast<int>(rows.columns().size()); ++column)
    if (std::find(order_.begin(), order_.end(), column) == order_.end()) order_.push_back(column);
  std::vector<TableColumn> columns;
  for (const int at : order_) {
    const ValueColumn& column = rows.column(at);
    columns.push_back(
        {wrapped(column.heading), raw_label(column), column.axis() ? column.numeric : true, column.label});
  }
  Rows cells;
  for (int row : shown_) {
    std::vector<TableCell>& line = cells.emplace_back();
    for (const int c : order_) {
      const ValueColumn& column = rows.column(c);
      const double value = rows.value(row, c);
      TableCell cell = text_cell(rows.text(row, c, units), column.axis()
                                                               ? column.raw.value(static_cast<int>(value))
                                                               : QString::number(value, 'g', 12));
      cell.sort = std::isnan(value) ? QVariant() : QVariant(value);
      if (std::isnan(value)) cell.tip = missing_tip(rows, row, column.id);
      add_band(rows, row, column, units, cell);
      line.push_back(std::move(cell));
    }
  }
  assign(std::move(columns), std::move(cells));
}

void DesignsModel::clear() {
  shown_.clear();
  order_.clear();
  assign({}, {});
}

int DesignsModel::designAt(int table_row) const {
  return table_row >= 0 && table_row < static_cast<int>(shown_.size())
             ? shown_[static_cast<size_t>(table_row)]
             : -1;
}

int DesignsModel::tableColumnOf(int column) const {
  const auto it = std::find(order_.begin(), order_.end(), column);
  return it == order_.end() ? -1 : static_cast<int>(it - order_.begin());
}

int DesignsModel::tableRowOf(int row) const {
  const auto it = std::find(shown_.begin(), shown_.end(), row);
  return it == shown_.end() ? -1 : static_cast<int>(it - shown_.begin());
}

}  // namespace shardscape::ui
