#include "validation/ratio_coverage.h"

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "accuracy/ratio_errors.h"
#include "accuracy/workload_layout.h"
#include "base/json_text.h"
#include "base/units.h"
#include "validation/effect_signs.h"

namespace shardscape {
namespace {

using Json = nlohmann::ordered_json;

// Two runs of one workload.
struct RunPair {
  ErrorCase of;
  std::string settings;                // in which they differ
  size_t workload = 0;                 // position among the workloads of the metric
  double measured = 0, predicted = 0;  // ln(value of one / value of the other)
  double error() const { return std::abs(measured - predicted); }
};

struct Run {
  double measured = 0, predicted = 0;  // means of logarithms
};

std::vector<RunPair> pairs_of(const ValidatedMetric& metric) {
  using Workload = std::tuple<ErrorCase, std::string, std::string,
                              std::string>;  // case, series, load, engine
  std::map<Workload, std::map<std::map<std::string, std::string>, std::vector<const ValidatedRow*>>> all;
  if (!find_band_metric(metric.name)) return {};
  for (const ValidatedRow& row : metric.rows) {
    if (row.series.empty() || row.measured <= 0 || row.predicted <= 0) continue;
    const auto engine = row.settings.find(kEngineSetting);
    all[{row.error_case, row.series, row.load, engine == row.settings.end() ? "" : engine->second}]
       [row.settings]
           .push_back(&row);
  }
  std::vector<RunPair> out;
  size_t workload = 0;
  for (const auto& [key, layouts] : all) {
    if (layouts.size() < 2) continue;
    const auto mean = [](const std::vector<const ValidatedRow*>& rows) {
      Run of;
      for (const ValidatedRow* row : rows) {
        of.measured += std::log(row->measured) / static_cast<double>(rows.size());
        of.predicted += std::log(row->predicted) / static_cast<double>(rows.size());
      }
      return of;
    };
    for (auto a = layouts.begin(); a != layouts.end(); ++a)
      for (auto b = std::next(a); b != layouts.end(); ++b) {
        const Run one = mean(a->second), other = mean(b->second);
        out.push_back({std::get<0>(key), differing_settings(a->first, b->first), workload,
                       one.measured - other.measured, one.predicted - other.predicted});
      }
    ++workload;
  }
  return out;
}

// The samples of the workloads for which `use` is true; use: of the position of a workload.
std::vector<PairSample> samples_of(const std::string& set, const ValidatedMetric& metric,
                                   const std::vector<RunPair>& pairs, const auto& use) {
  std::map<std::pair<ErrorCase, std::string>, std::map<size_t, std::vector<double>>> samples;
  for (const RunPair& pair : pairs)
    if (use(pair.workload)) samples[{pair.of, pair.settings}][pair.workload].push_back(pair.error());
  std::vector<PairSample> out;
  out.reserve(samples.size());
  for (auto& [key, workloads] : samples) {
    PairSample& sample = out.emplace_back(
        PairSample{set, *find_band_metric(metric.name), key.first, key.second, {}, {}});
    for (auto& [at, errors] : workloads) {
      sample.workloads.push_back(std::move(errors));
      sample.ids.push_back(static_cast<int64_t>(at));
    }
  }
  return out;
}

RatioCoverage coverage_of(const std::vector<RunPair>& pairs, BandMetric metric,
                          const std::vector<PairSample>& known, const auto& use) {
  std::map<std::pair<ErrorCase, std::string>, std::optional<RatioErrors>> errors;
  RatioCoverage out;
  for (const RunPair& pair : pairs) {
    if (!use(pair.workload)) continue;
    const auto [at, added] = errors.try_emplace({pair.of, pair.settings});
    if (added) at->second = ratio_errors(known, metric, pair.of, pair.settings);
    if (!at->second) continue;
    ++out.pairs;
    out.inside += pair.error() <= std::log(at->second->factor());
    if (at->second->tie(std::exp(pair.predicted))) continue;
    ++out.decided;
    out.right += pair.measured * pair.predicted > 0;
  }
  return out;
}

std::string share_text(size_t part, size_t of) {
  return of == 0 ? "-" : significant(100 * static_cast<double>(part) / static_cast<double>(of)) + " %";
}

std::string coverage_text(const RatioCoverage& of) {
  return std::to_string(of.inside) + " of " + std::to_string(of.pairs) + " pairs (" +
         share_text(of.inside, of.pairs) + ") inside 80 % bands, " + std::to_string(of.decided) +
         " decided, " + share_text(of.right, of.decided) + " of them right";
}

Json coverage_json(const RatioCoverage& of) {
  return {{"pairs", of.pairs}, {"inside", of.inside}, {"decided", of.decided}, {"right", of.right}};
}

struct NamedRatios {
  std::string metric, set;  // set: empty for all sets
  SetRatios of;
};

std::vector<NamedRatios> all_ratios(const std::vector<Validation>& sets,
                                    const std::vector<PairSample>& pairs) {
  std::vector<NamedRatios> out;
  for (int kind = 0; kind < kBandMetricCount; ++kind) {
    const std::string name(band_metric_name(static_cast<BandMetric>(kind)));
    const size_t total = out.size();
    out.push_back({name, "", {}});
    for (const Validation& of : sets)
      for (const ValidatedMetric& metric : of.metrics) {
        if (metric.name != name) continue;
        out.push_back({name, of.set, ratio_coverage(of, metric, pairs)});
        out[total].of.half += out.back().of.half;
        out[total].of.set += out.back().of.set;
      }
  }
  std::erase_if(out, [](const NamedRatios& of) { return of.of.half.pairs + of.of.set.pairs == 0; });
  return out;
}

}  // namespace

std::vector<PairSample> pair_samples_of(const Validation& validation) {
  std::vector<PairSample> out;
  for (const ValidatedMetric& metric : validation.metrics)
    for (PairSample& sample :
         samples_of(validation.set, metric, pairs_of(metric), [](size_t) { return true; }))
      out.push_back(std::move(sample));
  return out;
}

RatioCoverage& RatioCoverage::operator+=(const RatioCoverage& more) {
  pairs += more.pairs;
  inside += more.inside;
  decided += more.decided;
  right += more.right;
  return *this;
}

SetRatios ratio_coverage(const Validation& validation, const ValidatedMetric& metric,
                         const std::vector<PairSample>& pairs) {
  SetRatios out;
  const auto kind = find_band_metric(metric.name);
  const std::vector<RunPair> own = pairs_of(metric);
  if (!kind || own.empty()) return out;
  std::vector<PairSample> others;
  for (const PairSample& sample : pairs)
    if (sample.set != validation.set) others.push_back(sample);
  out.set = coverage_of(own, *kind, others, [](size_t) { return true; });
  for (const size_t half : {0, 1}) {
    std::vector<PairSample> known = others;
    for (PairSample& sample :
         samples_of(validation.set, metric, own, [&](size_t workload) { return workload % 2 != half; }))
      known.push_back(std::move(sample));
    out.half += coverage_of(own, *kind, known, [&](size_t workload) { return workload % 2 == half; });
  }
  return out;
}

std::string ratio_text(const std::vector<Validation>& sets, const std::vector<PairSample>& pairs) {
  std::string out;
  for (const NamedRatios& of : all_ratios(sets, pairs))
    out += "ratios of " + of.metric + ", " + (of.set.empty() ? "all sets" : of.set) +
           ": without half of the workloads " + coverage_text(of.of.half) + "; without the set " +
           coverage_text(of.of.set) + "\n";
  return out;
}

std::string ratio_json(const std::vector<Validation>& sets, const std::vector<PairSample>& pairs) {
  Json out = Json::array();
  for (const NamedRatios& of : all_ratios(sets, pairs))
    out.push_back({{"metric", of.metric},
                   {"set", of.set.empty() ? Json() : Json(of.set)},
                   {"without_half", coverage_json(of.of.half)},
                   {"without_set", coverage_json(of.of.set)}});
  return json_document(out);
}

}  // namespace shardscape
