// Numbers as the charts and tables print them: one unit per chart, three significant figures, the sign of
// differences as a minus; raw digits for export.
#pragma once

#include <QString>

#include "base/units.h"

namespace shardscape::ui {

// One unit for all compared values: value / divisor is in `unit`.
struct ValueScale {
  double divisor = 1;
  QString unit;
  friend bool operator==(const ValueScale&, const ValueScale&) = default;
};

// The largest unit in which the largest value is at least one; never below the smallest unit.
ValueScale byte_scale(double largest, UnitSystem units);
// For the memory of one rank and its parts: at most GiB or GB, so that small parts of a design that is far
// too large stay readable.
ValueScale rank_memory_scale(double largest, UnitSystem units);
// s, ms or µs.
ValueScale seconds_scale(double largest);
ValueScale flop_scale(double largest);
// For a list of a sum and its parts, which differ by orders of magnitude: the next smaller unit than the
// sum's.
ValueScale flop_parts_scale(double whole);

QString scaled_text(Wide value, const ValueScale& scale);  // "61.3", "< 0.001", "0"
QString scaled_real_text(double value, const ValueScale& scale);
QString with_unit(Wide value, const ValueScale& scale);  // "0.289 GiB", in the shared unit
QString bytes_text(Wide bytes, UnitSystem units);        // "61.3 GiB"
QString rank_bytes_text(Wide bytes, UnitSystem units);   // "1,340 GiB", in the unit of rank_memory_scale
QString exact_bytes_text(Wide bytes);                    // "65,820,000,000 bytes"
QString flops_text(Wide flops);                          // "5.50 PFLOP"
QString count_text(Wide count);                          // "405.9 B"
QString grouped_text(Wide value);                        // "131,072"
QString seconds_text(double seconds);                    // "148 ms"
QString raw_text(Wide value);                            // "131072"
QString signed_percent_text(double fraction);            // "+12.3 %", "−4.0 %"; "< 0.1 %" either way
QString percent_text(double fraction);                   // "68.1 %"; "< 0.1 %"

QString capacity_text(Wide bytes, UnitSystem units);  // "80 GiB": no decimals for a whole number
QString counted_text(Wide count, const QString& singular, const QString& plural);  // "1 layer", "8 layers"
QString text_of(std::string_view text);
// A key as text: "reduce_scatter" becomes "reduce scatter".
QString words(std::string_view key, QChar between = u' ');

}  // namespace shardscape::ui
