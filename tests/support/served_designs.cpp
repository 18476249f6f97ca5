#include "support/served_designs.h"

#include <QtGlobal>

#include "design/knobs/knobs.h"
#include "memory/estimate.h"

namespace shardscape::test {

Design served(const char* preset, Mode mode,
              const std::vector<std::pair<const char*, const char*>>& settings) {
  Design d = preset_design(preset, 1, 1, 1, false);
  d.workload.mode = mode;
  d.workload.seq = d.workload.context_length = 4096;
  d.workload.batch = d.workload.microbatch = 1;
  for (const auto& [id, value] : settings)
    if (const auto problem = set_knob(d, *find_knob(id), value)) qFatal("%s", to_string(*problem).c_str());
  return d;
}

Design engine_on(const char* preset, int64_t tp, const char* accelerator) {
  Design design = preset_design(preset, tp, 1, 1);
  design.cluster.accelerator = accelerator;
  return design;
}

Design decode_engine(const char* preset, int64_t tp, int64_t pp, const char* accelerator) {
  Design design = engine_on(preset, tp, accelerator);
  design.parallel.pp = pp;
  design.workload.mode = Mode::Decode;
  return design;
}

std::unique_ptr<EngineClock> clock_of(const Design& design, const EngineProfile& profile) {
  auto made = EngineClock::make(design, profile);
  if (auto* clock = std::get_if<0>(&made)) return std::move(*clock);
  qFatal("%s", to_string(std::get<Problem>(made)).c_str());
}

std::shared_ptr<const Report> reported(const Design& d) {
  auto report = estimate(d);
  if (!report->valid()) qFatal("%s", to_string(report->problems.front()).c_str());
  return report;
}

}  // namespace shardscape::test
