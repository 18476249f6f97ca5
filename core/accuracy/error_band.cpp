#include "accuracy/error_band.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/units.h"
#include "hardware/accelerator.h"

namespace shardscape {
namespace {

constexpr Widening kSteps[] = {Widening::None,      Widening::Scale,       Widening::Kind,
                               Widening::Precision, Widening::Accelerator, Widening::Family};

std::string family_of(const std::string& accelerator) {
  const Accelerator* found = find_accelerator(accelerator);
  return found ? found->family : "";
}

// Whether the rows of a case count for another case after these steps.
bool counts(const ErrorCase& row, const ErrorCase& of, Widening widening) {
  switch (widening) {
    case Widening::None: return row == of;
    case Widening::Scale:
      return row.accelerator == of.accelerator && row.precision == of.precision && row.kind == of.kind;
    case Widening::Kind: return row.accelerator == of.accelerator && row.precision == of.precision;
    case Widening::Precision: return row.accelerator == of.accelerator;
    case Widening::Accelerator: {
      const std::string family = family_of(of.accelerator);
      return !family.empty() && family_of(row.accelerator) == family;
    }
    case Widening::Family: return true;
  }
  return false;
}

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

// "22 rows of 2 sets: NVIDIA B200 SXM, 16 bits, mixtures of experts"
std::string basis_text(const ErrorBand& band, const ErrorCase& of) {
  std::string out = grouped(static_cast<Wide>(band.rows)) + " rows of " + std::to_string(band.sets) +
                    (band.sets == 1 ? " set: " : " sets: ");
  const Accelerator* accelerator = find_accelerator(of.accelerator);
  const std::string name = accelerator ? accelerator->name : of.accelerator;
  if (band.widening == Widening::Family) return out + "all accelerators";
  if (band.widening == Widening::Accelerator)
    return out + "accelerators of the family " + family_of(of.accelerator);
  out += name;
  if (band.widening <= Widening::Kind) out += ", " + std::string(precision_class_label(of.precision));
  if (band.widening <= Widening::Scale) out += ", " + std::string(model_kind_label(of.kind));
  if (band.widening == Widening::None) out += ", " + std::string(scale_class_label(of.scale));
  return out;
}

}  // namespace

std::optional<ErrorBand> error_band(const std::vector<ErrorSample>& samples, BandMetric metric,
                                    const ErrorCase& of, const std::function<bool(const ErrorSample&)>& use) {
  for (const Widening widening : kSteps) {
    std::map<std::string, std::vector<double>> sets;
    for (const ErrorSample& sample : samples)
      if (sample.metric == metric && !sample.log_ratios.empty() && counts(sample.of, of, widening) &&
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
    out.basis = basis_text(out, of);
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
