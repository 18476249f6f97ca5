#include "validation/band_coverage.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "accuracy/error_band.h"
#include "base/json_text.h"
#include "base/units.h"

namespace shardscape {
namespace {

bool has_ratio(const ValidatedRow& row) { return row.measured > 0 && row.predicted > 0; }

double log_ratio(const ValidatedRow& row) { return std::log(row.measured / row.predicted); }

// The samples of the rows for which `use` is true; use: of the position of a row.
std::vector<ErrorSample> samples_of(const std::string& set, const ValidatedMetric& metric, const auto& use) {
  const auto kind = find_band_metric(metric.name);
  std::map<ErrorCase, std::vector<double>> ratios;
  for (size_t i = 0; kind && i < metric.rows.size(); ++i)
    if (has_ratio(metric.rows[i]) && use(i))
      ratios[metric.rows[i].error_case].push_back(log_ratio(metric.rows[i]));
  std::vector<ErrorSample> out;
  out.reserve(ratios.size());
  for (auto& [of, values] : ratios) out.push_back({set, *kind, of, std::move(values)});
  return out;
}

// Counts rows in bands; rows of one case share a band.
void count(const ValidatedMetric& metric, BandMetric kind, const std::vector<ErrorSample>& samples,
           const auto& use, size_t& rows, size_t& inside) {
  std::map<ErrorCase, std::optional<ErrorBand>> bands;
  for (size_t i = 0; i < metric.rows.size(); ++i) {
    const ValidatedRow& row = metric.rows[i];
    if (!has_ratio(row) || !use(i)) continue;
    const auto [at, added] = bands.try_emplace(row.error_case);
    if (added) at->second = error_band(samples, kind, row.error_case);
    if (!at->second) continue;
    const double ratio = row.measured / row.predicted;
    ++rows;
    inside += ratio >= at->second->low && ratio <= at->second->high;
  }
}

}  // namespace

std::vector<ErrorSample> samples_of(const Validation& validation) {
  std::vector<ErrorSample> out;
  for (const ValidatedMetric& metric : validation.metrics)
    for (ErrorSample& sample : samples_of(validation.set, metric, [](size_t) { return true; }))
      out.push_back(std::move(sample));
  return out;
}

BandCoverage& BandCoverage::operator+=(const BandCoverage& more) {
  half_rows += more.half_rows;
  half_inside += more.half_inside;
  set_rows += more.set_rows;
  set_inside += more.set_inside;
  return *this;
}

BandCoverage band_coverage(const Validation& validation, const ValidatedMetric& metric,
                           const std::vector<ErrorSample>& samples) {
  BandCoverage out;
  const auto kind = find_band_metric(metric.name);
  if (!kind) return out;
  std::vector<ErrorSample> others;
  for (const ErrorSample& sample : samples)
    if (sample.set != validation.set) others.push_back(sample);
  count(
      metric, *kind, others, [](size_t) { return true; }, out.set_rows, out.set_inside);
  for (const size_t half : {0, 1}) {
    std::vector<ErrorSample> known = others;
    for (ErrorSample& sample : samples_of(validation.set, metric, [&](size_t i) { return i % 2 != half; }))
      known.push_back(std::move(sample));
    count(
        metric, *kind, known, [&](size_t i) { return i % 2 == half; }, out.half_rows, out.half_inside);
  }
  return out;
}

std::string coverage_text(const BandCoverage& of) {
  const auto inside = [](size_t part, size_t rows) {
    const double share = rows == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(rows);
    return std::to_string(part) + " of " + std::to_string(rows) + (rows == 1 ? " row (" : " rows (") +
           significant(share) + " %)";
  };
  return "inside 80 % bands: " + inside(of.half_inside, of.half_rows) + " without half of the set, " +
         inside(of.set_inside, of.set_rows) + " without the set";
}

namespace {

struct SetCoverage {
  std::string metric, set;  // set: empty for the sum over all sets
  BandCoverage coverage;
  double half_mean = 0, set_mean = 0;  // of all sets: mean of the shares of the sets
};

double share(size_t inside, size_t rows) { return static_cast<double>(inside) / static_cast<double>(rows); }

std::vector<SetCoverage> all_coverages(const std::vector<Validation>& sets,
                                       const std::vector<ErrorSample>& samples) {
  std::vector<SetCoverage> out;
  for (int kind = 0; kind < kBandMetricCount; ++kind) {
    const std::string name(band_metric_name(static_cast<BandMetric>(kind)));
    const size_t total = out.size();
    out.push_back({name, "", {}});
    size_t halves = 0, wholes = 0;
    for (const Validation& of : sets)
      for (const ValidatedMetric& metric : of.metrics) {
        if (metric.name != name || metric.rows.empty()) continue;
        out.push_back({name, of.set, band_coverage(of, metric, samples)});
        const BandCoverage& one = out.back().coverage;
        out[total].coverage += one;
        if (one.half_rows > 0 && ++halves > 0) out[total].half_mean += share(one.half_inside, one.half_rows);
        if (one.set_rows > 0 && ++wholes > 0) out[total].set_mean += share(one.set_inside, one.set_rows);
      }
    out[total].half_mean /= static_cast<double>(std::max<size_t>(1, halves));
    out[total].set_mean /= static_cast<double>(std::max<size_t>(1, wholes));
  }
  std::erase_if(out, [](const SetCoverage& of) { return of.coverage.rows() == 0; });
  return out;
}

}  // namespace

std::string coverage_text(const std::vector<Validation>& sets, const std::vector<ErrorSample>& samples) {
  std::string out;
  for (const SetCoverage& of : all_coverages(sets, samples))
    out += of.metric + ", " + (of.set.empty() ? "all sets" : of.set) + ": " + coverage_text(of.coverage) +
           (of.set.empty() ? "; mean over sets " + significant(100 * of.half_mean) + " % and " +
                                 significant(100 * of.set_mean) + " %"
                           : "") +
           "\n";
  return out;
}

std::string coverage_json(const std::vector<Validation>& sets, const std::vector<ErrorSample>& samples) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const auto& [metric, set, of, half_mean, set_mean] : all_coverages(sets, samples)) {
    out.push_back({{"metric", metric},
                   {"set", set.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(set)},
                   {"without_half", {{"rows", of.half_rows}, {"inside", of.half_inside}}},
                   {"without_set", {{"rows", of.set_rows}, {"inside", of.set_inside}}}});
    if (!set.empty()) continue;
    out.back()["without_half"]["mean_over_sets"] = half_mean;
    out.back()["without_set"]["mean_over_sets"] = set_mean;
  }
  return json_document(out);
}

}  // namespace shardscape
