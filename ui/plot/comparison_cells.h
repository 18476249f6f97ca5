// The three table cells for a value of a pinned design: the value, the present design's value minus it, and
// the difference in percent of the pinned design's value.
#pragma once

#include <array>
#include <functional>
#include <optional>

#include "ui/plot/table_model.h"

namespace shardscape::ui {

inline constexpr int kComparisonCells = 3;

// text: formats a value that is not negative, with or without its unit. now, value: empty if a design has no
// such value.
std::array<TableCell, kComparisonCells> comparisonCells(std::optional<double> now,
                                                        std::optional<double> value,
                                                        const std::function<QString(double)>& text);
// what: the name of the value after the letter, may be empty: "takes". raw: its name and unit for export:
// "duration (s)".
std::array<TableColumn, kComparisonCells> comparisonColumns(int member, const QString& what,
                                                            const QString& raw, const QString& tip);

TableCell real_cell(double value, const QString& shown);
TableCell no_cell();  // a cell without a value; sorts apart from all values

}  // namespace shardscape::ui
