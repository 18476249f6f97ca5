#include "accuracy/ratio_errors.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "accuracy/error_band.h"
#include "accuracy/workload_layout.h"
#include "base/units.h"

namespace shardscape {
namespace {

constexpr double kRounding = 1e-12;

// The independent pairs among all pairs of one workload's runs: r - 1 of r (r - 1) / 2.
double independent(size_t pairs) { return (std::sqrt(1 + 8 * static_cast<double>(pairs)) - 1) / 2; }

double sum_of(const RatioErrors& of) {
  double sum = 0;
  for (const auto& [error, weight] : of.errors) sum += weight;
  return sum;
}

// "pp, tp" for "pp tp".
std::string settings_text(const std::string& settings) {
  std::string out;
  for (const char c : settings) out += c == ' ' ? std::string(", ") : std::string(1, c);
  return out;
}

// The pairs of these samples; empty if they are too few.
std::optional<RatioErrors> errors_of(const std::vector<const PairSample*>& samples, bool one_set) {
  // Pairs of one workload that differ in other settings are of the same runs.
  std::map<std::string, std::map<int64_t, std::vector<double>>> sets;
  for (const PairSample* sample : samples)
    for (size_t i = 0; i < sample->workloads.size(); ++i) {
      std::vector<double>& of = sets[sample->set][sample->ids[i]];
      of.insert(of.end(), sample->workloads[i].begin(), sample->workloads[i].end());
    }
  RatioErrors out;
  double all = 0;
  for (const auto& [set, workloads] : sets) {
    double of_set = 0;
    for (const auto& [id, pairs] : workloads) of_set += independent(pairs.size());
    all += of_set;
    for (const auto& [id, pairs] : workloads) {
      const auto count = static_cast<double>(pairs.size());
      for (const double error : pairs)
        out.errors.emplace_back(std::abs(error), independent(pairs.size()) / count / std::sqrt(of_set));
    }
  }
  out.sets = sets.size();
  if (all < static_cast<double>(kLeastBandRows) || (out.sets < kLeastBandSets && !one_set))
    return std::nullopt;
  std::sort(out.errors.begin(), out.errors.end());
  out.new_pair = sum_of(out) / all;
  return out;
}

}  // namespace

double RatioErrors::factor() const {
  const double sum = sum_of(*this), inner = kBandCoverage * (sum + new_pair) - kRounding * sum;
  double below = 0;
  for (const auto& [error, weight] : errors)
    if ((below += weight) >= inner) return std::exp(error);
  return std::exp(errors.back().first);
}

double RatioErrors::confidence(double ratio) const {
  const double distance = std::abs(std::log(ratio));
  double beyond = new_pair;
  for (const auto& [error, weight] : errors)
    if (error >= distance) beyond += weight;
  return 1 - beyond / (2 * (sum_of(*this) + new_pair));  // half of the errors have the other sign
}

bool RatioErrors::tie(double ratio) const { return std::abs(std::log(ratio)) <= std::log(factor()); }

std::optional<RatioErrors> ratio_errors(const std::vector<PairSample>& pairs, BandMetric metric,
                                        const ErrorCase& of, const std::string& settings,
                                        const std::function<bool(const PairSample&)>& use) {
  for (const bool same : {true, false})
    for (const Widening widening : kWidenings) {
      std::vector<const PairSample*> samples;
      for (const PairSample& sample : pairs)
        if (sample.metric == metric && counts_for(sample.of, of, widening) &&
            (!same || sample.settings == settings) && (!use || use(sample)))
          samples.push_back(&sample);
      auto out = errors_of(samples, !same && widening == Widening::Family);
      if (!out) continue;
      out->widening = widening;
      out->same_settings = same;
      out->basis = grouped(static_cast<Wide>(out->errors.size())) + " pairs of " + std::to_string(out->sets) +
                   (out->sets == 1 ? " set" : " sets") +
                   (same ? " that differ in " + settings_text(settings) : "") + ": " +
                   widening_text(widening, of);
      return out;
    }
  return std::nullopt;
}

DesignRatios design_ratios(Mode mode, const ErrorCase& of, const std::string& settings) {
  const auto make = [&](BandMetric metric) {
    auto made = ratio_errors(pair_samples(), metric, of, settings);
    return made ? std::make_shared<const RatioErrors>(*std::move(made)) : nullptr;
  };
  switch (mode) {
    case Mode::Train: return {make(BandMetric::Time), make(BandMetric::Memory)};
    case Mode::Prefill: return {make(BandMetric::Ttft), nullptr};
    case Mode::Decode: return {make(BandMetric::Tpot), nullptr};
  }
  return {};
}

DesignRatios design_ratios(const Design& a, const Design& b) {
  const Layout one = layout_of(a), other = layout_of(b);
  if (one.workload != other.workload) return {};
  return design_ratios(a.workload.mode, error_case(a), differing_settings(one.settings, other.settings));
}

std::string ratio_text(double ratio, const RatioErrors& errors) {
  const auto percent = [](double of) { return significant(100 * std::abs(of - 1)) + " %"; };
  const auto words = [&](double of) { return percent(of) + (of < 1 ? " less" : " more"); };
  const double factor = errors.factor(), low = ratio / factor, high = ratio * factor;
  if (errors.tie(ratio)) return words(ratio) + " (" + words(low) + " to " + words(high) + "), tie";
  // The smaller change first.
  const auto [near, far] = ratio < 1 ? std::pair(high, low) : std::pair(low, high);
  return words(ratio) + " (" + percent(near) + " to " + percent(far) + "), " +
         significant(100 * errors.confidence(ratio), 2) + " % sure";
}

}  // namespace shardscape
