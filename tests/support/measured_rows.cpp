#include "support/measured_rows.h"

#include <QTemporaryDir>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <variant>

#include "design/knobs/knobs.h"
#include "timing/simulation.h"
#include "validation/validation.h"

namespace shardscape::test {

MeasuredSet measured_set(const std::string& text) {
  const QTemporaryDir folder;
  const std::string path = folder.filePath("set.json").toStdString();
  // A test changes a row by a second value for a key. The last one counts.
  const auto rows = nlohmann::ordered_json::parse(text, nullptr, false);
  std::ofstream(path) << (rows.is_discarded() ? text : rows.dump(1));
  auto result = read_measured_set(path);
  if (const auto* problem = std::get_if<Problem>(&result)) qFatal("%s", to_string(*problem).c_str());
  return std::get<MeasuredSet>(std::move(result));
}

std::string differing_knob(const Design& design, const QString& knobs) {
  for (const QString& pair : knobs.split(' ', Qt::SkipEmptyParts)) {
    const Knob* knob = find_knob(pair.section('=', 0, 0).toStdString());
    if (!knob) return pair.toStdString() + " names no knob";
    // The value as the knob writes it, so that aliases of one value compare equal.
    Design wanted = design;
    if (const auto problem = set_knob(wanted, *knob, pair.section('=', 1).toStdString()))
      return to_string(*problem);
    if (const std::string value = knob_text(design, *knob); value != knob_text(wanted, *knob))
      return knob->id + " is " + value + " instead of " + knob_text(wanted, *knob);
  }
  return {};
}

double step_error_percent(const MeasuredSet& set) {
  const Validation v = validate_set(
      set, [](const Report& report) { return std::optional<double>(simulate(report)->step_seconds); });
  const bool has_time = !v.metrics.empty() && v.metrics[0].name == "time" && v.metrics[0].rows.size() == 1;
  return has_time ? v.metrics[0].rows[0].error_percent() : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace shardscape::test
