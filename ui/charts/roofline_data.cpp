#include "ui/charts/roofline_data.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "simulate/machine_of.h"
#include "simulate/op_seconds.h"

namespace shardscape::ui {

double Roofline::attainable(const RooflinePoint& point) const {
  double peak = 0;
  for (const Roof& roof : roofs)
    if (roof.compute == point.compute) peak = roof.peak;
  return std::min(peak, point.intensity() * bandwidth);
}

Roofline roofline(const Report& report, int stage) {
  Roofline out;
  if (!report.accelerator) return out;
  out.accelerator = report.accelerator;
  out.bandwidth = report.accelerator->memory_gbps * 1e9;
  const OpSeconds times = op_seconds(report, machine_of(report.design));
  const StageReport& of = report.stages[static_cast<size_t>(stage)];
  std::set<int> segments;
  if (of.first) segments.insert(0);
  for (const auto& kinds : chunk_kinds(report.graph(), of, report.design.model))
    for (const int kind : kinds) segments.insert(1 + kind);
  if (of.last) segments.insert(report.graph().head());
  std::set<DType> precisions;
  std::set<std::tuple<std::string, double, double>> seen;  // layers of several kinds share most of their ops
  for (const int s : segments) {
    const Segment& segment = report.graph().segments[static_cast<size_t>(s)];
    for (OpId id = 0; id < static_cast<OpId>(segment.ops.size()); ++id) {
      const Op& op = segment.op(id);
      if (is_redistribution(op.kind)) continue;
      RooflinePoint point{s, id, number(op.flops, of.binding), number(op.read_bytes + op.written_bytes, of.binding),
                          times.ops[static_cast<size_t>(s)][static_cast<size_t>(id)].seconds, op.compute};
      if (point.flops <= 0 || point.bytes <= 0 || point.seconds <= 0) continue;
      if (!seen.insert({op.name, point.flops, point.bytes}).second) continue;
      precisions.insert(op.compute);
      out.points.push_back(point);
    }
  }
  for (const DType compute : precisions) out.roofs.push_back({compute, peak_flops(*report.accelerator, compute)});
  std::sort(out.roofs.begin(), out.roofs.end(), [](const Roof& a, const Roof& b) { return a.peak > b.peak; });
  std::stable_sort(out.points.begin(), out.points.end(), [](const RooflinePoint& a, const RooflinePoint& b) { return a.seconds < b.seconds; });
  return out;
}

}  // namespace shardscape::ui
