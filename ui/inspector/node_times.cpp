#include "ui/inspector/node_times.h"

#include <QCoreApplication>
#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <numeric>
#include <vector>

#include "timing/op_bound.h"
#include "ui/inspector/communication_inspection.h"
#include "ui/toolkit/graph_text.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

using Figures = QVector<QPair<QString, QString>>;
using BoundSeconds = std::array<double, kBoundByCount>;

QString tr_times(const char* text) { return QCoreApplication::translate("NodeTimes", text); }

QString rounded(double value, const char* unit) {
  return text_of(significant(value)) + u' ' + QLatin1String(unit);
}

// "550 GFLOP / 989 TFLOP/s = 556 us, 49 % of the time".
QString quotient(const QString& amount, const QString& rate, double seconds, double of) {
  return tr_times("%1 / %2 = %3, %4 of the time")
      .arg(amount, rate, seconds_text(seconds), percent_text(of > 0 ? seconds / of : 0));
}

Figures of_collective(const OpBound& bound, const Network& network, UnitSystem units) {
  Figures out{
      {tr_times("Time"), seconds_text(bound.communication)},
      {tr_times("Bound by"), text_of(bound_label(bound.by))},
      {tr_times("Bus bandwidth"),
       tr_times("%1 for %2")
           .arg(bus_text(bound.bus_rate), bytes_text(static_cast<Wide>(bound.buffer), units))},
      {tr_times("Level"),
       tr_times("%1: %2").arg(text_of(network_level_label(network_level(network, bound.span), network)),
                              text_of(span_text(network, bound.span)))}};
  if (bound.seconds < bound.communication)
    out.append({tr_times("Compute waits"), seconds_text(bound.seconds)});
  else if (bound.seconds > bound.communication)
    out.append({tr_times("With packing kernels"), seconds_text(bound.seconds)});
  return out;
}

Figures of_kernel(const OpBound& bound, UnitSystem units) {
  const KernelWork& work = bound.work;
  Figures out{{tr_times("Time"), seconds_text(bound.seconds)},
              {tr_times("Bound by"), text_of(bound_label(bound.by))}};
  if (work.flops > 0 && bound.peak > 0)
    out.append({tr_times("Peak"),
                quotient(flops_text(static_cast<Wide>(work.flops)), rounded(bound.peak * 1e-12, "TFLOP/s"),
                         work.flops / bound.peak, bound.seconds)});
  if (work.bytes > 0 && bound.bandwidth > 0)
    out.append({tr_times("Memory"), quotient(bytes_text(static_cast<Wide>(work.bytes), units),
                                             rounded(bound.bandwidth * 1e-9, "GB/s"),
                                             work.bytes / bound.bandwidth, bound.seconds)});
  if (bound.by == BoundBy::Launch)
    out.append({tr_times("Launch"), tr_times("%1 on the host").arg(seconds_text(bound.launch))});
  if (bound.communication > 0)
    out.append({tr_times("Messages"), tr_times("%1 on the links").arg(seconds_text(bound.communication))});
  return out;
}

Figures of_op(const GraphTree& tree, const NodeId& id, UnitSystem units, const Simulation& simulation) {
  const int index = tree.segment_of(id.unit);
  const Segment& segment = tree.segment(index);
  const OpId timed = timed_op(segment, id.op);
  const auto bound = op_bound(tree.report(), simulation, index, timed);
  if (!bound) return {{tr_times("Time"), tr_times("none: no kernel runs for it")}};
  Figures out = bound->collective() ? of_collective(*bound, simulation.machine.network, units)
                                    : of_kernel(*bound, units);
  if (timed != id.op) out.front() = {tr_times("Time of the kernel"), out.front().second};
  return out;
}

void add(BoundSeconds& to, const GraphTree& tree, int segment, const std::vector<OpId>& ops, double times,
         const Simulation& simulation) {
  for (const OpId op : ops)
    if (const auto bound = op_bound(tree.report(), simulation, segment, op))
      to[static_cast<size_t>(bound->by)] += times * bound->seconds;
}

// "compute 62 %, scale-up links 30 %".
QString shares(const BoundSeconds& seconds) {
  const double all = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  std::vector<int> order(seconds.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return seconds[static_cast<size_t>(a)] > seconds[static_cast<size_t>(b)];
  });
  constexpr double kShown = 0.01;
  QStringList out;
  for (const int by : order)
    if (const double one = seconds[static_cast<size_t>(by)]; all > 0 && one >= kShown * all)
      out << QStringLiteral("%1 %2").arg(text_of(bound_label(static_cast<BoundBy>(by))),
                                         percent_text(one / all));
  return out.join(QStringLiteral(", "));
}

// "1.2 s", or "1.2 s to 1.4 s" of several equal stages.
template <typename Seconds>
QString range_text(const Simulation& simulation, int first, int end, const Seconds& seconds) {
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (int stage = first; stage < end; ++stage) {
    const double one = seconds(simulation.stages[static_cast<size_t>(stage)]);
    least = std::min(least, one);
    most = std::max(most, one);
  }
  const QString low = seconds_text(least), high = seconds_text(most);
  return low == high ? low : tr_times("%1 to %2").arg(low, high);
}

double seconds_of(const StageTimes& times, TimeCategory category) {
  return times.seconds[static_cast<size_t>(category)];
}

// count: of equal stages. Their shares are those of the first one.
Figures of_stages(const Simulation& simulation, int first, int count) {
  const int end = std::min(first + count, static_cast<int>(simulation.stages.size()));
  const StageTimes& times = simulation.stages[static_cast<size_t>(first)];
  const auto busy_of = [&](const StageTimes& of) {
    return simulation.step_seconds - seconds_of(of, TimeCategory::Bubble);
  };
  const double busy = busy_of(times);
  const std::pair<QString, double> parts[] = {
      {tr_times("compute"),
       seconds_of(times, TimeCategory::MatrixProducts) + seconds_of(times, TimeCategory::Attention)},
      {tr_times("memory bandwidth"),
       seconds_of(times, TimeCategory::MemoryBound) + seconds_of(times, TimeCategory::Optimizer)},
      {tr_times("exposed communication"), times.exposed},
      {tr_times("host"), seconds_of(times, TimeCategory::Host)}};
  QStringList bound;
  for (const auto& [label, part] : parts)
    if (busy > 0 && part > 0) bound << QStringLiteral("%1 %2").arg(label, percent_text(part / busy));
  return {{tr_times("Time"),
           tr_times("%1 of a step of %2")
               .arg(range_text(simulation, first, end, busy_of), seconds_text(simulation.step_seconds))},
          {tr_times("Bound by"), bound.join(QStringLiteral(", "))},
          {tr_times("Bubble"), range_text(simulation, first, end, [](const StageTimes& of) {
             return seconds_of(of, TimeCategory::Bubble);
           })}};
}

}  // namespace

QVector<QPair<QString, QString>> time_figures(const GraphTree& tree, const NodeId& id, int units,
                                              Passes passes, UnitSystem system,
                                              const Simulation& simulation) {
  switch (id.level) {
    case NodeLevel::Root: return {};
    case NodeLevel::Stage: return of_stages(simulation, id.stage, units);
    case NodeLevel::Op: return of_op(tree, id, system, simulation);
    case NodeLevel::Unit:
    case NodeLevel::Block: break;
  }
  BoundSeconds one{}, all{};
  const bool run = id.level == NodeLevel::Unit && units > 1;
  add(one, tree, tree.segment_of(id.unit), tree.ops_of(id, passes), 1, simulation);
  const auto sum = [](const BoundSeconds& of) { return std::accumulate(of.begin(), of.end(), 0.0); };
  if (!run)
    return {{tr_times("Time"), tr_times("%1 per microbatch").arg(seconds_text(sum(one)))},
            {tr_times("Bound by"), shares(one)}};
  std::map<int, std::pair<int, int>> kinds;  // first unit and number of layers, by segment
  for (int unit = id.unit; unit < id.unit + units; ++unit)
    ++kinds.try_emplace(tree.segment_of(unit), unit, 0).first->second.second;
  for (const auto& [segment, layers] : kinds)
    add(all, tree, segment, tree.ops_of({NodeLevel::Unit, id.stage, layers.first}, passes), layers.second,
        simulation);
  return {
      {tr_times("Time"), tr_times("%1 per microbatch, all %2 layers").arg(seconds_text(sum(all))).arg(units)},
      {tr_times("Bound by"), shares(all)},
      {tr_times("First layer"), seconds_text(sum(one))}};
}

}  // namespace shardscape::ui
