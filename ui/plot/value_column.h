// A column of values that are compared: of a table, an axis or a filter; a value per row.
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
  QString heading;    // of a narrow column: "tp"
  QString unit;       // of Plain figures
  Measure measure = Measure::Plain;
  Better better = Better::Neither;
  int objective = -1;          // place in objectives(); -1: dimensions, and figures that nothing is ranked by
  bool numeric = false;        // of a dimension whose values are numbers
  QStringList choices, raw;    // values of a dimension in order: as people read them, as knobs take them
  std::vector<double> values;  // per row; NaN: not known
  double low = 0, high = 0;    // of the known ones; low > high: none is known
  bool axis() const { return measure == Measure::Place; }
  bool known() const { return low <= high; }
};

}  // namespace shardscape::ui
