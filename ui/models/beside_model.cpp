#include "ui/models/beside_model.h"

#include <cmath>

#include "ui/state/comparisons.h"

namespace shardscape::ui {
namespace {

TableCell number(double value, const QString& shown) {
  TableCell cell = text_cell(shown, QString::number(value, 'g', 15));
  cell.sort = value;
  return cell;
}

TableCell nothing() {
  TableCell cell = text_cell(QStringLiteral("-"), QString());
  cell.sort = QVariant();
  return cell;
}

}  // namespace

void BesideModel::setBars(const BarData& data, int stage) {
  // The whole, then a row for each part that any of them has.
  Rows rows;
  const ValueScale scale{data.divisor, data.unit};
  const auto text = [&](double value) { return scaled_text(static_cast<Wide>(value), scale); };
  const auto add = [&](const QString& part, bool whole, const auto& of) {
    std::vector<TableCell> row{text_cell(part)};
    bool any = whole;
    const bool present = stage < data.stages();
    const double now = present ? of(0) : 0;
    row.push_back(present ? number(now, text(now)) : nothing());
    any = any || now != 0;
    for (int member = 1; member < data.members(); ++member) {
      if (stage >= data.stages(member)) {
        row.insert(row.end(), 3, nothing());
        continue;
      }
      const double value = of(member), by = value - now;
      any = any || value != 0;
      row.push_back(number(value, text(value)));
      const QString size = text(std::fabs(by)), sign = size.startsWith(u'<') ? QString() : by < 0 ? QString(QChar(0x2212)) : QStringLiteral("+");
      row.push_back(present ? number(by, by == 0 ? tr("same") : sign + size) : nothing());
      row.push_back(present && now != 0 && by != 0 ? number(100 * by / now, signed_percent_text(by / now)) : nothing());
      if (present && by == 0) row.back().text.clear();
    }
    for (TableCell& cell : row) cell.strong = whole;
    if (any) rows.push_back(std::move(row));
  };
  add(tr("Stage %1 as a whole").arg(stage), true, [&](int member) { return data.total(stage, member); });
  for (size_t series = 0; series < data.series.size(); ++series)
    add(data.series[series].label, false, [&](int member) { return data.of(member)[static_cast<size_t>(stage)][series]; });
  std::vector<TableColumn> columns{{tr("Part"), QStringLiteral("part"), false, {}}, {tr("A, %1").arg(data.unit), QStringLiteral("A"), true, tr("The present design")}};
  for (int member = 1; member < data.members(); ++member) {
    const QString letter = Comparisons::letter(data.letter(member));
    columns.push_back({letter, letter, true, {}});
    columns.push_back({tr("%1 − A").arg(letter), letter + QStringLiteral(" less A"), true, tr("%1 less the present design").arg(letter)});
    columns.push_back({tr("%"), letter + QStringLiteral(" less A (%)"), true, tr("That in percent of the present design")});
  }
  assign(std::move(columns), std::move(rows));
}

}  // namespace shardscape::ui
