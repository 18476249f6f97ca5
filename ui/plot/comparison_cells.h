// What tables say of a value of a compared design next to the present one's: the value, its difference and
// that in percent.
#pragma once

#include <array>
#include <functional>
#include <optional>

#include "ui/plot/table_model.h"

namespace shardscape::ui {

inline constexpr int kComparisonCells = 3;

// text: a value that is not negative, with or without its unit. Nothing where a design has no such value.
std::array<TableCell, kComparisonCells> comparisonCells(std::optional<double> now,
                                                        std::optional<double> value,
                                                        const std::function<QString(double)>& text);
// what: of the value, behind the letter, may be empty: "takes"; raw: with its unit, for export: "duration
// (s)".
std::array<TableColumn, kComparisonCells> comparisonColumns(int member, const QString& what,
                                                            const QString& raw, const QString& tip);

TableCell real_cell(double value, const QString& shown);
TableCell no_cell();  // where there is no value: sorts apart from all

}  // namespace shardscape::ui
