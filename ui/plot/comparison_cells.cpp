#include "ui/plot/comparison_cells.h"

#include <QCoreApplication>
#include <cmath>

#include "ui/session/comparisons.h"

namespace shardscape::ui {
namespace {

constexpr double kRounding = 1e-9;  // relative: sums differ by rounding

QString tr(const char* text) { return QCoreApplication::translate("ComparisonCells", text); }

}  // namespace

TableCell real_cell(double value, const QString& shown) {
  TableCell cell = text_cell(shown, QString::number(value, 'g', 15));
  cell.sort = value;
  return cell;
}

TableCell no_cell() {
  TableCell cell = text_cell(QStringLiteral("-"), QString());
  cell.sort = QVariant();
  return cell;
}

std::array<TableCell, kComparisonCells> comparisonCells(std::optional<double> now,
                                                        std::optional<double> value,
                                                        const std::function<QString(double)>& text) {
  std::array<TableCell, kComparisonCells> out{no_cell(), no_cell(), no_cell()};
  if (!value) return out;
  out[0] = real_cell(*value, text(*value));
  if (!now) return out;
  const double exact = *now - *value, by = std::fabs(exact) <= kRounding * std::fabs(*now) ? 0 : exact;
  const QString size = text(std::fabs(by)), sign = size.startsWith(u'<') ? QString()
                                                   : by < 0              ? QString(QChar(0x2212))
                                                                         : QStringLiteral("+");
  out[1] = real_cell(by, by == 0 ? tr("same") : sign + size);
  if (*value != 0 && by != 0)
    out[2] = real_cell(100 * by / *value, signed_percent_text(by / *value));
  else if (by == 0)
    out[2].text.clear();
  return out;
}

std::array<TableColumn, kComparisonCells> comparisonColumns(int member, const QString& what,
                                                            const QString& raw, const QString& tip) {
  const QString letter = Comparisons::letter(member), present = Comparisons::letter(0);
  const QString difference = present + QStringLiteral(" less ") + letter +
                             (raw.isEmpty() ? QString() : u' ' + raw);
  return {TableColumn{what.isEmpty() ? letter : letter + u' ' + what,
                      raw.isEmpty() ? letter : letter + u' ' + raw, true, tip},
          TableColumn{tr("%1 − %2").arg(present, letter), difference, true,
                      tr("The current design %1 minus the pinned design %2").arg(present, letter), true},
          TableColumn{tr("%"), difference + QStringLiteral(" (%)"), true,
                      tr("The difference in percent of the pinned design %1").arg(letter)}};
}

}  // namespace shardscape::ui
