#include "ui/plot/bar_comparison_model.h"

#include <algorithm>

#include "ui/plot/comparison_cells.h"
#include "ui/session/comparisons.h"

namespace shardscape::ui {

void BarComparisonModel::setBars(const BarData& data, int stage) {
  // A row for the whole bar, then a row for each part that any design has.
  Rows rows;
  const ValueScale scale{data.divisor, data.unit};
  const auto text = [&](double value) { return scaled_real_text(value, scale); };
  const auto add = [&](const QString& part, bool whole, const auto& of) {
    std::vector<TableCell> row{text_cell(part)};
    const auto value = [&](int member) {
      return stage < data.stages(member) ? std::optional<double>(of(member)) : std::nullopt;
    };
    const std::optional<double> now = value(0);
    bool any = whole || (now && *now != 0);
    row.push_back(now ? real_cell(*now, text(*now)) : no_cell());
    for (int member = 1; member < data.members(); ++member) {
      const std::optional<double> theirs = value(member);
      any = any || (theirs && *theirs != 0);
      for (TableCell& cell : comparisonCells(now, theirs, text)) row.push_back(std::move(cell));
    }
    for (TableCell& cell : row) cell.strong = whole;
    if (any) rows.push_back(std::move(row));
    return any;
  };
  add(tr("Stage %1 as a whole").arg(stage), true, [&](int member) { return data.total(stage, member); });
  series_.clear();
  for (size_t series = 0; series < data.series.size(); ++series)
    if (add(data.series[series].label, false,
            [&](int member) { return data.of(member)[static_cast<size_t>(stage)][series]; }))
      series_.push_back(static_cast<int>(series));
  std::vector<TableColumn> columns{{tr("Part"), QStringLiteral("part"), false, {}},
                                   {tr("%1, %2").arg(Comparisons::letter(0), data.unit),
                                    Comparisons::letter(0), true, tr("The current design")}};
  for (int member = 1; member < data.members(); ++member)
    for (TableColumn& column : comparisonColumns(data.letter(member), {}, {}, {}))
      columns.push_back(std::move(column));
  assign(std::move(columns), std::move(rows));
}

int BarComparisonModel::rowOf(int series) const {
  const auto it = std::find(series_.begin(), series_.end(), series);
  return it == series_.end() ? -1 : 1 + static_cast<int>(it - series_.begin());
}

}  // namespace shardscape::ui
