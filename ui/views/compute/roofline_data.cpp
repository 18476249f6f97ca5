#include "ui/views/compute/roofline_data.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "performance/calibration.h"
#include "timing/machine_of.h"
#include "timing/op_bound.h"
#include "ui/selection/step_relations.h"

namespace shardscape::ui {

double Roofline::attainable(const RooflinePoint& point) const {
  double peak = 0;
  for (const Roof& roof : roofs)
    if (roof.compute == point.compute) peak = roof.peak;
  return std::min(peak,
                  point.intensity() * (cached(point) ? std::max(bandwidth, cache_bandwidth) : bandwidth));
}

int same_point(const Report& report, const RooflinePoint& point, const ComparedRoofline& other) {
  const auto segment = [](const Report& of, const RooflinePoint& at) -> const Segment& {
    return of.graph().segments[static_cast<size_t>(at.segment)];
  };
  const Segment& mine = segment(report, point);
  int found = -1;  // different kinds of layers share ops, and one point represents all of them
  for (size_t i = 0; i < other.roofline.points.size(); ++i) {
    const RooflinePoint& there = other.roofline.points[i];
    const Segment& theirs = segment(*other.report, there);
    if (theirs.kind != mine.kind || theirs.op(there.op).name != mine.op(point.op).name) continue;
    if (theirs.name == mine.name) return static_cast<int>(i);
    found = static_cast<int>(i);
  }
  return found;
}

std::pair<int, int> units_with(const Report& report, int stage, const RooflinePoint& point) {
  std::pair<int, int> out{-1, -1};
  const auto chunks = static_cast<int>(report.stages[static_cast<size_t>(stage)].chunks.size());
  for (int chunk = 0; chunk < chunks; ++chunk) {
    const auto [first, end] = units_of_chunk(report, stage, chunk);
    for (int unit = first; unit < end; ++unit) {
      if (segment_of_unit(report, unit) != point.segment) continue;
      out.first = out.first < 0 ? unit : std::min(out.first, unit);
      out.second = std::max(out.second, unit + 1);
    }
  }
  return out;
}

Roofline roofline(const Report& report, int stage) {
  Roofline out;
  if (!report.accelerator) return out;
  out.accelerator = report.accelerator;
  out.bandwidth = report.accelerator->memory_gbps * 1e9;
  // Tensors up to 1.5 times the cache size are partly served from the cache (memory_model.h).
  if (const auto& memory = kernels_of(*report.accelerator).data.memory;
      memory && memory->cache_mb > 0 && memory->cache_share > 1) {
    out.cache_bytes = 1.5e6 * memory->cache_mb;
    out.cache_bandwidth = memory->cache_share * out.bandwidth;
  }
  const OpSeconds times = op_seconds(report, machine_of(report.design));
  const StageReport& of = report.stages[static_cast<size_t>(stage)];
  std::set<DType> precisions;
  std::map<std::tuple<std::string, double, double>, size_t>
      seen;  // different kinds of layers share most of their ops
  for (const int s : segments_of(report, stage)) {
    const Segment& segment = report.graph().segments[static_cast<size_t>(s)];
    const std::vector<OpTime>& seconds = times.ops[static_cast<size_t>(s)];
    for (const Kernel& kernel : segment.kernels) {
      const Op& op = segment.op(kernel.op);
      if (is_redistribution(op.kind)) continue;
      const KernelWork work = kernel_work(segment, kernel, of.binding);
      RooflinePoint point{
          s,          kernel.op, work.flops, work.bytes, seconds[static_cast<size_t>(kernel.op)].seconds,
          op.compute, {}};
      for (const OpId id : kernel.ops) point.ops.emplace_back(s, id);
      if (point.flops <= 0 || point.bytes <= 0 || point.seconds <= 0) continue;
      const auto [known, made] = seen.try_emplace({op.name, point.flops, point.bytes}, out.points.size());
      if (!made) {
        std::vector<std::pair<int, int>>& ops = out.points[known->second].ops;
        ops.insert(ops.end(), point.ops.begin(), point.ops.end());
        continue;
      }
      precisions.insert(op.compute);
      out.points.push_back(std::move(point));
    }
  }
  for (const DType compute : precisions)
    out.roofs.push_back({compute, peak_flops(*report.accelerator, compute)});
  std::sort(out.roofs.begin(), out.roofs.end(), [](const Roof& a, const Roof& b) { return a.peak > b.peak; });
  std::stable_sort(out.points.begin(), out.points.end(),
                   [](const RooflinePoint& a, const RooflinePoint& b) { return a.seconds < b.seconds; });
  return out;
}

}  // namespace shardscape::ui
