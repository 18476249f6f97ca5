#include "accuracy/error_band.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/units.h"

namespace shardscape {
namespace {

// Limits of the log ratios; `weights` of the same rows. Requires kLeastBandRows rows.
std::pair<double, double> limits(std::vector<std::pair<double, double>> rows) {
  std::sort(rows.begin(), rows.end());
  double sum = 0;
  for (const auto& [ratio, weight] : rows) sum += weight;
  constexpr double kRounding = 1e-12;
  const double new_run = sum / static_cast<double>(rows.size()),
               inner = (1 + kBandCoverage) / 2 * (sum + new_run) - kRounding * sum;
  const auto limit = [&](auto begin, auto end) {
    double below = 0;
    for (auto it = begin; it != end; ++it)
      if ((below += it->second) >= inner) return it->first;
    return std::prev(end)->first;
  };
  return {limit(rows.rbegin(), rows.rend()), limit(rows.begin(), rows.end())};
}

}  // namespace

std::optional<ErrorBand> error_band(const std::vector<ErrorSample>& samples, BandMetric metric,
                                    const ErrorCase& of, const std::function<bool(const ErrorSample&)>& use) {
  for (const Widening widening : kWidenings) {
    std::map<std::string, std::vector<double>> sets;
    for (const ErrorSample& sample : samples)
      if (sample.metric == metric && !sample.log_ratios.empty() && counts_for(sample.of, of, widening) &&
          (!use || use(sample))) {
        std::vector<double>& all = sets[sample.set];
        all.insert(all.end(), sample.log_ratios.begin(), sample.log_ratios.end());
      }
    std::vector<std::pair<double, double>> rows;  // log ratio and weight
    for (const auto& [set, ratios] : sets)
      for (const double ratio : ratios)
        rows.emplace_back(ratio, 1 / std::sqrt(static_cast<double>(ratios.size())));
    const bool last = widening == Widening::Family;
    if (rows.size() < kLeastBandRows || (sets.size() < kLeastBandSets && !last)) continue;
    ErrorBand out;
    out.rows = rows.size();
    out.sets = sets.size();
    out.widening = widening;
    const auto [low, high] = limits(std::move(rows));
    out.low = std::exp(low);
    out.high = std::exp(high);
    out.basis = grouped(static_cast<Wide>(out.rows)) + " rows of " + std::to_string(out.sets) +
                (out.sets == 1 ? " set: " : " sets: ") + widening_text(widening, of);
    return out;
  }
  return std::nullopt;
}

DesignBands design_bands(const Design& design) {
  const ErrorCase of = error_case(design);
  DesignBands out;
  switch (design.workload.mode) {
    case Mode::Train:
      out.time = error_band(error_samples(), BandMetric::Time, of);
      out.memory = error_band(error_samples(), BandMetric::Memory, of);
      break;
    case Mode::Prefill: out.time = error_band(error_samples(), BandMetric::Ttft, of); break;
    case Mode::Decode: out.time = error_band(error_samples(), BandMetric::Tpot, of); break;
  }
  return out;
}

ServiceBands service_bands(Design design) {
  design.workload.mode = Mode::Decode;
  const ErrorCase of = error_case(design);
  return {error_band(error_samples(), BandMetric::Ttft, of),
          error_band(error_samples(), BandMetric::Tpot, of)};
}

std::string band_text(double value, const std::optional<ErrorBand>& band,
                      const std::function<std::string(double)>& text) {
  return band ? text(value * band->low) + " to " + text(value * band->high) : "";
}

bool bands_overlap(double a, const std::optional<ErrorBand>& of_a, double b,
                   const std::optional<ErrorBand>& of_b) {
  return of_a && of_b && a * of_a->low <= b * of_b->high && b * of_b->low <= a * of_a->high;
}

int64_t bytes_over(int64_t predicted, int64_t capacity, const std::optional<ErrorBand>& band) {
  if (!band || capacity == 0) return 0;
  const double high = static_cast<double>(predicted) * band->high;
  return std::max<int64_t>(0, std::llround(high) - capacity);
}

}  // namespace shardscape
