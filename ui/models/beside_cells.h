// What tables say of a value of another design beside the present one's: the value, its difference and that in percent.
#pragma once

#include <array>
#include <functional>
#include <optional>

#include "ui/models/table_model.h"

namespace shardscape::ui {

inline constexpr int kBesideCells = 3;

// text: a value that is not negative, with or without its unit. Nothing where a design has no such value.
std::array<TableCell, kBesideCells> beside_cells(std::optional<double> now, std::optional<double> value, const std::function<QString(double)>& text);
// what: of the value, behind the letter, may be empty: "takes"; raw: with its unit, for export: "duration (s)".
std::array<TableColumn, kBesideCells> beside_columns(int member, const QString& what, const QString& raw, const QString& tip);

TableCell real_cell(double value, const QString& shown);
TableCell no_cell();  // where there is no value: sorts apart from all

}  // namespace shardscape::ui
