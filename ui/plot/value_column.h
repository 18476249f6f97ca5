// A column of values for a table, an axis or a filter; one value per row.
#pragma once

#include <QString>
#include <QStringList>
#include <cstdint>
#include <vector>

namespace shardscape::ui {

enum class Measure : uint8_t { Place, Seconds, Bytes, Share, Money, Plain };  // Place: of a value in choices
enum class Better : uint8_t { Neither, Less, More };

struct ValueColumn {
  QString id, label;  // "tp", "Tensor parallel"
  QString heading;    // for a narrow column: "tp"
  QString unit;       // of Plain figures
  Measure measure = Measure::Plain;
  Better better = Better::Neither;
  int objective = -1;          // index in objectives(); -1: a dimension, or a figure that is no objective
  bool numeric = false;        // a dimension whose values are numbers
  QStringList choices, raw;    // values of a dimension in order: as labels, and as texts of the knob
  std::vector<double> values;  // per row; NaN: unknown
  double low = 0, high = 0;    // range of the known values; low > high: none is known
  bool axis() const { return measure == Measure::Place; }
  bool known() const { return low <= high; }
};

}  // namespace shardscape::ui
