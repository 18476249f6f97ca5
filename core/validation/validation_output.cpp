#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include <nlohmann/json.hpp>

#include "base/units.h"
#include "validation/row_text.h"
#include "validation/validation.h"

namespace shardscape {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kNameWidth = 64;

std::string fixed(double value, int digits) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}

std::string padded(std::string text, size_t width, bool right) {
  text = cut_text(text, width);
  const std::string fill(width - text_width(text), ' ');
  return right ? fill + text : text + fill;
}

}  // namespace

std::string figure_text(const ValidatedMetric& metric, double value) {
  return metric.name == "memory" ? format_bytes(static_cast<Wide>(value))
                                 : fixed(value, value < 1 ? 4 : 2) + " s";
}

std::string validation_text(const Validation& v) {
  std::string out = v.set + (v.source.empty() ? "" : ": " + v.source) + "\n";
  for (const ValidatedMetric& metric : v.metrics) {
    out += "\n" + padded(metric.name, kNameWidth, false) + padded("measured", 12, true) +
           padded("predicted", 12, true) + padded("error", 10, true) + "\n";
    for (const ValidatedRow& row : metric.rows)
      out += padded(row.name, kNameWidth, false) + padded(figure_text(metric, row.measured), 12, true) +
             padded(figure_text(metric, row.predicted), 12, true) +
             padded((row.error_percent() >= 0 ? "+" : "") + fixed(row.error_percent(), 2) + " %", 10, true) +
             "\n";
    out += metric.rows.empty()
               ? "no rows"
               : std::to_string(metric.rows.size()) + (metric.rows.size() == 1 ? " row" : " rows") +
                     ", mean absolute error " + fixed(metric.mean_abs_error_percent(), 2) + " %";
    if (const ValidatedRow* worst = metric.worst())
      out += ", worst " + fixed(worst->error_percent(), 2) + " % (" + worst->name + ")";
    out += "\n";
    for (const auto& [row, why] : metric.unmapped) out += "not mapped: " + row + ": " + why + "\n";
  }
  return out;
}

std::string validation_json(const Validation& v) {
  Json out = {{"set", v.set}, {"source", v.source}};
  for (const ValidatedMetric& metric : v.metrics) {
    const auto row_json = [](const ValidatedRow& row) {
      return Json{{"row", row.name},
                  {"measured", row.measured},
                  {"predicted", row.predicted},
                  {"error_percent", row.error_percent()}};
    };
    Json rows = Json::array(), unmapped = Json::array();
    for (const ValidatedRow& row : metric.rows) rows.push_back(row_json(row));
    for (const auto& [row, why] : metric.unmapped) unmapped.push_back({{"row", row}, {"reason", why}});
    Json& entry = out[metric.name];
    entry = {
        {"unit", metric.name == "memory" ? "bytes" : "seconds"},
        {"rows", rows},
        {"mean_abs_error_percent", metric.rows.empty() ? Json() : Json(metric.mean_abs_error_percent())}};
    entry["worst"] = metric.worst() ? row_json(*metric.worst()) : Json();
    entry["unmapped"] = unmapped;
  }
  return out.dump(2) + "\n";
}

}  // namespace shardscape
