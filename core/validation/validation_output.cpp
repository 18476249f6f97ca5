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
// SVG: one square per metric.
constexpr double kSide = 420, kMargin = 64, kDot = 3.5;

std::string fixed(double value, int digits) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}

std::string figure(const ValidatedMetric& metric, double value) {
  return metric.name == "memory" ? format_bytes(static_cast<Wide>(value))
                                 : fixed(value, value < 1 ? 4 : 2) + " s";
}

std::string padded(std::string text, size_t width, bool right) {
  text = cut_text(text, width);
  const std::string fill(width - text_width(text), ' ');
  return right ? fill + text : text + fill;
}

std::string escaped(const std::string& text) {
  std::string out;
  for (char c : text)
    out += c == '<'   ? "&lt;"
           : c == '>' ? "&gt;"
           : c == '&' ? "&amp;"
           : c == '"' ? "&quot;"
                      : std::string(1, c);
  return out;
}

std::string tag(const std::string& name, const std::string& attributes, const std::string& inside = "") {
  return "<" + name + " " + attributes + (inside.empty() ? "/>" : ">" + inside + "</" + name + ">") + "\n";
}

}  // namespace

std::string validation_text(const Validation& v) {
  std::string out = v.set + (v.source.empty() ? "" : ": " + v.source) + "\n";
  for (const ValidatedMetric& metric : v.metrics) {
    out += "\n" + padded(metric.name, kNameWidth, false) + padded("measured", 12, true) +
           padded("predicted", 12, true) + padded("error", 10, true) + "\n";
    for (const ValidatedRow& row : metric.rows)
      out += padded(row.name, kNameWidth, false) + padded(figure(metric, row.measured), 12, true) +
             padded(figure(metric, row.predicted), 12, true) +
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

std::string validation_svg(const Validation& v) {
  const double width = kMargin + static_cast<double>(v.metrics.size()) * (kSide + kMargin),
               height = kSide + 2 * kMargin;
  std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + fixed(width, 0) + "\" height=\"" +
                    fixed(height, 0) + "\" font-family=\"Inter, sans-serif\" font-size=\"12\">\n" +
                    tag("rect", "width=\"100%\" height=\"100%\" fill=\"#FFFFFF\"");
  double left = kMargin;
  for (const ValidatedMetric& metric : v.metrics) {
    double low = INFINITY, high = 0;
    for (const ValidatedRow& row : metric.rows) {
      low = std::min({low, row.measured, row.predicted});
      high = std::max({high, row.measured, row.predicted});
    }
    const std::string title = v.set + ", " + metric.name + ": " + std::to_string(metric.rows.size()) +
                              " rows, mean absolute error " + fixed(metric.mean_abs_error_percent(), 2) +
                              " %";
    out += tag("text", "x=\"" + fixed(left, 1) + "\" y=\"" + fixed(kMargin / 2, 1) + "\" fill=\"#1D2733\"",
               escaped(title));
    out += tag("rect", "x=\"" + fixed(left, 1) + "\" y=\"" + fixed(kMargin, 1) + "\" width=\"" +
                           fixed(kSide, 1) + "\" height=\"" + fixed(kSide, 1) +
                           "\" fill=\"none\" stroke=\"#DCE1E7\"");
    if (metric.rows.empty() || !(low > 0)) {
      left += kSide + kMargin;
      continue;
    }
    const double begin = std::log10(low) - 0.05, span = std::max(std::log10(high) + 0.05 - begin, 1e-6);
    const auto x = [&](double value) { return left + kSide * (std::log10(value) - begin) / span; };
    const auto y = [&](double value) { return kMargin + kSide * (1 - (std::log10(value) - begin) / span); };
    const double first = std::pow(10, begin), last = std::pow(10, begin + span);
    out += tag("line", "x1=\"" + fixed(x(first), 1) + "\" y1=\"" + fixed(y(first), 1) + "\" x2=\"" +
                           fixed(x(last), 1) + "\" y2=\"" + fixed(y(last), 1) +
                           "\" stroke=\"#5C6874\" stroke-dasharray=\"4 4\"");
    for (const ValidatedRow& row : metric.rows)
      out += tag("circle",
                 "cx=\"" + fixed(x(row.measured), 1) + "\" cy=\"" + fixed(y(row.predicted), 1) + "\" r=\"" +
                     fixed(kDot, 1) + "\" fill=\"#2F6FDE\" fill-opacity=\"0.6\"",
                 "<title>" +
                     escaped(row.name + ": measured " + figure(metric, row.measured) + ", predicted " +
                             figure(metric, row.predicted)) +
                     "</title>");
    for (const double value : {low, high}) {
      out += tag("text",
                 "x=\"" + fixed(x(value), 1) + "\" y=\"" + fixed(kMargin + kSide + 18, 1) +
                     "\" text-anchor=\"middle\" fill=\"#5C6874\"",
                 figure(metric, value));
      out += tag("text",
                 "x=\"" + fixed(left - 6, 1) + "\" y=\"" + fixed(y(value) + 4, 1) +
                     "\" text-anchor=\"end\" fill=\"#5C6874\"",
                 figure(metric, value));
    }
    out += tag("text",
               "x=\"" + fixed(left + kSide / 2, 1) + "\" y=\"" + fixed(kMargin + kSide + 36, 1) +
                   "\" text-anchor=\"middle\" fill=\"#1D2733\"",
               "measured");
    out += tag("text",
               "x=\"" + fixed(left + 6, 1) + "\" y=\"" + fixed(kMargin + 16, 1) + "\" fill=\"#1D2733\"",
               "predicted");
    left += kSide + kMargin;
  }
  return out + "</svg>\n";
}

}  // namespace shardscape
