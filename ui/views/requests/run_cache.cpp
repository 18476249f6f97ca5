#include "ui/views/requests/run_cache.h"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace shardscape::ui {
namespace {

constexpr size_t kMostRuns = 8;
constexpr size_t kMostRecords = 4'000'000;  // requests and steps of all runs, about 400 MB

size_t records(const RunOutcome& outcome) {
  if (!outcome.run) return 1;
  const RequestSimulation& simulation = outcome.run->run->simulation;
  return simulation.requests.size() + simulation.steps.size();
}

}  // namespace

ServiceInput service_input(const Design& design, const ServiceSpec& spec) {
  ServiceInput out{design, spec, {}};
  const WorkloadSpec standard;
  WorkloadSpec& w = out.design.workload;
  w.mode = standard.mode;
  w.seq = standard.seq;
  w.batch = standard.batch;
  w.microbatch = standard.microbatch;
  w.context_length = standard.context_length;
  for (const std::string& file : {spec.source.trace, spec.source.lengths}) {
    if (file.empty()) continue;
    std::error_code missing;
    const auto size = std::filesystem::file_size(file, missing);
    out.files.push_back(missing ? -1 : static_cast<int64_t>(size));
    const auto time = std::filesystem::last_write_time(file, missing);
    out.files.push_back(missing ? -1 : static_cast<int64_t>(time.time_since_epoch().count()));
  }
  return out;
}

RunOutcome make_outcome(const ServiceInput& input, std::stop_token stop,
                        const std::shared_ptr<PlanCache>& plans) {
  auto made = run_service(input.design, input.spec, stop, plans);
  RunOutcome out;
  if (stop.stop_requested()) return out;
  if (auto* problem = std::get_if<Problem>(&made))
    out.problem = std::move(*problem);
  else
    out.run = std::make_shared<const ShownRun>(std::get<0>(std::move(made)));
  return out;
}

const RunOutcome* RunCache::find(const ServiceInput& input) {
  const auto at = std::find_if(entries_.begin(), entries_.end(),
                               [&](const Entry& entry) { return entry.input == input; });
  if (at == entries_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, at);
  return &entries_.front().outcome;
}

void RunCache::keep(const ServiceInput& input, const RunOutcome& outcome) {
  std::erase_if(entries_, [&](const Entry& entry) { return entry.input == input; });
  entries_.push_front({input, outcome});
  size_t all = 0, kept = 0;
  for (const Entry& entry : entries_) {
    all += records(entry.outcome);
    if (kept > 0 && (kept == kMostRuns || all > kMostRecords)) break;
    ++kept;
  }
  while (entries_.size() > kept) entries_.pop_back();
}

}  // namespace shardscape::ui
