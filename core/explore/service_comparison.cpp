#include "explore/service_comparison.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "accuracy/error_band.h"
#include "model/parallel_loop.h"
#include "model/progress_count.h"

namespace shardscape {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

using Value = std::function<std::optional<double>(const ServiceRun&)>;

class Figures {
 public:
  explicit Figures(const std::vector<std::shared_ptr<const ServiceRun>>& runs) : runs_(runs) {}

  void add(std::string id, std::string label, FigureGroup group, FigureKind kind, const Value& value) {
    ComparedFigure row{std::move(id), std::move(label), group, kind, {}, {}};
    for (const auto& run : runs_) row.values.push_back(value(*run).value_or(kNone));
    rows_.push_back(std::move(row));
  }
  void result(std::string id, std::string label, FigureGroup group, FigureKind kind,
              double ServiceResults::*of) {
    add(std::move(id), std::move(label), group, kind,
        [of](const ServiceRun& run) { return run.results.*of; });
  }
  void count(std::string id, std::string label, int64_t ServiceResults::*of) {
    add(std::move(id), std::move(label), FigureGroup::Size, FigureKind::Count,
        [of](const ServiceRun& run) { return static_cast<double>(run.results.*of); });
  }
  // Gives figures a band per service.
  void band(std::initializer_list<const char*> ids, std::optional<ErrorBand> ServiceBands::*of) {
    for (ComparedFigure& row : rows_) {
      if (std::find(ids.begin(), ids.end(), row.id) == ids.end()) continue;
      for (size_t i = 0; i < runs_.size(); ++i) {
        const ServiceBands bands = service_bands(runs_[i]->design);
        const std::optional<ErrorBand>& band = bands.*of;
        row.bands.emplace_back(row.values[i] * (band ? band->low : kNone),
                               row.values[i] * (band ? band->high : kNone));
      }
    }
  }
  std::vector<ComparedFigure> rows() && { return std::move(rows_); }

 private:
  const std::vector<std::shared_ptr<const ServiceRun>>& runs_;
  std::vector<ComparedFigure> rows_;
};

void add_latencies(Figures& figures) {
  const std::tuple<const char*, const char*, Distribution ServiceResults::*> latencies[] = {
      {"ttft", "TTFT", &ServiceResults::ttft},
      {"tpot", "TPOT", &ServiceResults::tpot},
      {"itl", "ITL", &ServiceResults::itl},
      {"e2e", "End to end", &ServiceResults::e2e},
      {"queueing", "Queueing", &ServiceResults::queueing}};
  const std::pair<const char*, double Distribution::*> percentiles[] = {{"mean", &Distribution::mean},
                                                                        {"p50", &Distribution::p50},
                                                                        {"p90", &Distribution::p90},
                                                                        {"p95", &Distribution::p95},
                                                                        {"p99", &Distribution::p99}};
  for (const auto& [id, name, latency] : latencies)
    for (const auto& [label, percentile] : percentiles)
      figures.add(std::string(id) + "_" + label + "_seconds", std::string(name) + " " + label,
                  FigureGroup::Time, FigureKind::Seconds,
                  [latency = latency, percentile = percentile](const ServiceRun& run) {
                    const Distribution& of = run.results.*latency;
                    return of.count > 0 ? std::optional(of.*percentile) : std::nullopt;
                  });
  figures.band({"ttft_mean_seconds", "ttft_p50_seconds"}, &ServiceBands::ttft);
  figures.band({"tpot_mean_seconds", "tpot_p50_seconds"}, &ServiceBands::tpot);
}

}  // namespace

ServiceSpec with_engine_of(const ServiceSpec& spec, const ServiceSpec& other) {
  ServiceSpec out = spec;
  for (const ServiceSetting& setting : service_settings())
    if (setting.group == SettingGroup::Engine || setting.group == SettingGroup::Fleet)
      setting.read(out, setting.text(other));
  return out;
}

Result<std::shared_ptr<const ServiceComparison>> run_services(
    std::vector<NamedDesign> services, std::stop_token stop, std::shared_ptr<PlanCache> cache,
    const std::function<void(size_t done, size_t of)>& progress) {
  if (!cache) cache = std::make_shared<PlanCache>();
  auto out = std::make_shared<ServiceComparison>();
  out->runs.resize(services.size());
  std::vector<std::optional<Problem>> problems(services.size());
  ProgressCount count(progress);
  parallel_loop(services.size(), [&](size_t i) {
    if (stop.stop_requested()) return;
    NamedDesign& one = services[i];
    if (!one.service) one.service = ServiceSpec();
    auto run = run_service(one.design, *one.service, stop, cache);
    if (auto* problem = std::get_if<Problem>(&run))
      problems[i] = std::move(*problem);
    else
      out->runs[i] = std::get<0>(std::move(run));
    count.step(services.size());
  });
  for (size_t i = 0; i < services.size(); ++i)
    if (problems[i]) {
      problems[i]->what = services[i].name + ": " + problems[i]->what;
      return *std::move(problems[i]);
    }
  out->services = std::move(services);
  return std::shared_ptr<const ServiceComparison>(std::move(out));
}

std::vector<ComparedSetting> compare_settings(const std::vector<ServiceSpec>& specs) {
  std::vector<ComparedSetting> out;
  for (const ServiceSetting& setting : service_settings()) {
    ComparedSetting row{&setting, {}};
    bool changed = false;
    std::set<std::string> values;
    for (const ServiceSpec& spec : specs) {
      const bool has = !check_engine(spec, setting);
      row.values.push_back(has ? setting.text(spec) : "");
      if (!has) continue;
      values.insert(row.values.back());
      changed = changed || row.values.back() != setting.text(ServiceSpec());
    }
    // Of a setting that only some engines have, the default says nothing.
    const bool some = std::find(row.values.begin(), row.values.end(), "") != row.values.end();
    if (values.size() > 1 || (some && changed)) out.push_back(std::move(row));
  }
  return out;
}

std::vector<ComparedFigure> compare_services(const std::vector<std::shared_ptr<const ServiceRun>>& runs) {
  constexpr FigureGroup kTime = FigureGroup::Time, kSize = FigureGroup::Size, kCost = FigureGroup::Cost;
  constexpr FigureKind kRate = FigureKind::Rate;
  Figures figures(runs);
  figures.add("accelerators", "GPUs", kSize, FigureKind::Count,
              [](const ServiceRun& run) { return static_cast<double>(run.accelerators); });
  figures.count("finished", "Answered", &ServiceResults::finished);
  figures.count("refused", "Refused", &ServiceResults::refused);
  figures.count("preemptions", "Preemptions", &ServiceResults::preemptions);
  figures.result("peak_cache", "Cache, most", kSize, FigureKind::Share, &ServiceResults::peak_cache);
  figures.result("prefix_hits", "Prefix hits", kSize, FigureKind::Share, &ServiceResults::prefix_hits);
  figures.result("requests_per_second", "Answered requests/s", kTime, kRate,
                 &ServiceResults::requests_per_second);
  if (std::any_of(runs.begin(), runs.end(), [](const auto& run) { return request_limits(run->spec).any(); }))
    figures.result("goodput", "Goodput, requests/s", kTime, kRate, &ServiceResults::goodput);
  figures.result("output_tokens_per_second", "Output tokens/s", kTime, kRate,
                 &ServiceResults::output_per_second);
  figures.result("input_tokens_per_second", "Prompt tokens/s", kTime, kRate,
                 &ServiceResults::input_per_second);
  add_latencies(figures);
  figures.add("gpu_seconds", "GPU-seconds", kCost, kRate, [](const ServiceRun& run) {
    return std::accumulate(run.pools.begin(), run.pools.end(), 0.0,
                           [](double sum, const ServicePool& pool) { return sum + pool.gpu_seconds; });
  });
  figures.add("usd_per_million_tokens", "$ per million output tokens", kCost, kRate,
              [](const ServiceRun& run) { return run.cost.dollars; });
  figures.add("kwh_per_million_tokens", "kWh per million output tokens", kCost, kRate,
              [](const ServiceRun& run) { return run.cost.kwh; });
  return std::move(figures).rows();
}

}  // namespace shardscape
