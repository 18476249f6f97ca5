#include "ui/charts/roofline_data.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "simulate/machine_of.h"
#include "simulate/op_seconds.h"

namespace shardscape::ui {
namespace {

// Products that one kernel makes have their seconds on the first of them: the one that this op is made with. -1: none.
OpId made_with(const Segment& segment, const std::vector<OpTime>& times, OpId id) {
  const Op& op = segment.op(id);
  if (op.kind != OpKind::Einsum || times[static_cast<size_t>(id)].seconds > 0) return -1;
  for (OpId first = id - 1; first >= 0; --first) {
    const Op& of = segment.op(first);
    if (of.kind == OpKind::Einsum && of.block == op.block && of.phase == op.phase && of.grad == op.grad && times[static_cast<size_t>(first)].seconds > 0)
      return first;
  }
  return -1;
}

}  // namespace

double Roofline::attainable(const RooflinePoint& point) const {
  double peak = 0;
  for (const Roof& roof : roofs)
    if (roof.compute == point.compute) peak = roof.peak;
  return std::min(peak, point.intensity() * bandwidth);
}

int same_point(const Report& report, const RooflinePoint& point, const RooflineBeside& other) {
  const auto segment = [](const Report& of, const RooflinePoint& at) -> const Segment& { return of.graph().segments[static_cast<size_t>(at.segment)]; };
  const Segment& mine = segment(report, point);
  int found = -1;  // layers of several kinds share ops, of which one stands for all
  for (size_t i = 0; i < other.roofline.points.size(); ++i) {
    const RooflinePoint& there = other.roofline.points[i];
    const Segment& theirs = segment(*other.report, there);
    if (theirs.kind != mine.kind || theirs.op(there.op).name != mine.op(point.op).name) continue;
    if (theirs.name == mine.name) return static_cast<int>(i);
    found = static_cast<int>(i);
  }
  return found;
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
    const std::vector<OpTime>& seconds = times.ops[static_cast<size_t>(s)];
    std::map<OpId, std::pair<double, double>> beside;  // FLOPs and bytes of what a product's kernel makes too
    for (OpId id = 0; id < static_cast<OpId>(segment.ops.size()); ++id) {
      const OpId first = made_with(segment, seconds, id);
      if (first < 0) continue;
      const Op& op = segment.op(id);
      double bytes = number(op.read_bytes + op.written_bytes, of.binding);
      const std::vector<TensorId>& read = segment.op(first).inputs;
      for (const TensorId input : op.inputs)  // read once
        if (std::find(read.begin(), read.end(), input) != read.end()) bytes -= number(local_bytes(segment.tensor(input)), of.binding);
      beside[first].first += number(op.flops, of.binding);
      beside[first].second += std::max(0.0, bytes);
    }
    for (OpId id = 0; id < static_cast<OpId>(segment.ops.size()); ++id) {
      const Op& op = segment.op(id);
      if (is_redistribution(op.kind)) continue;
      // Kernels of attention skip what the mask discards.
      const Expr& flops = op.kind == OpKind::Attention ? op.useful_flops : op.flops;
      RooflinePoint point{s, id, number(flops, of.binding), number(op.read_bytes + op.written_bytes, of.binding),
                          seconds[static_cast<size_t>(id)].seconds, op.compute};
      if (const auto with = beside.find(id); with != beside.end()) {
        point.flops += with->second.first;
        point.bytes += with->second.second;
      }
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
