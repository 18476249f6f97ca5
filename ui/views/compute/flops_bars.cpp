#include "ui/views/compute/flops_bars.h"

#include <QCoreApplication>
#include <algorithm>
#include <array>

#include "base/enum_count.h"
#include "ui/toolkit/theme.h"

namespace shardscape::ui {
namespace {

QString tr_bars(const char* text) { return QCoreApplication::translate("FlopsBars", text); }

constexpr FlopsGroup kGroups[] = {FlopsGroup::MatrixProducts, FlopsGroup::Attention, FlopsGroup::Activation,
                                  FlopsGroup::Embedding,      FlopsGroup::Loss,      FlopsGroup::Pointwise,
                                  FlopsGroup::Optimizer};
static_assert(std::size(kGroups) == enum_count<FlopsGroup>(), "every group has a bar segment");

// A segment below this share of the tallest bar is thinner than a line. The table shows it, the legend does
// not.
constexpr double kLeastInLegend = 0.004;

// The colour of the group's main kind of op.
QColor group_color(FlopsGroup group) {
  const Theme& theme = Theme::instance();
  switch (group) {
    case FlopsGroup::MatrixProducts: return theme.opColor(OpKind::Einsum);
    case FlopsGroup::Attention: return theme.opColor(OpKind::Attention);
    case FlopsGroup::Activation: return theme.opColor(OpKind::SwiGlu);
    case FlopsGroup::Embedding: return theme.opColor(OpKind::Embed);
    case FlopsGroup::Loss: return theme.opColor(OpKind::Nll);
    case FlopsGroup::Pointwise: return theme.opColor(OpKind::RmsNorm);
    case FlopsGroup::Optimizer: return theme.colors().secondary;
  }
  return theme.colors().runtime;
}

BarFill fill_of(Phase phase) {
  return phase == Phase::Backward    ? BarFill::Hatched
         : phase == Phase::Recompute ? BarFill::Dotted
                                     : BarFill::Solid;
}

// Values of all segments of a stage, by phase and group.
constexpr size_t kGroupCount = std::size(kGroups);
using SegmentValues = std::array<double, kPhaseCount * kGroupCount>;

size_t place_of(Phase phase, FlopsGroup group) {
  return static_cast<size_t>(phase) * kGroupCount + static_cast<size_t>(group);
}

SegmentValues stage_flops(const StageReport& stage, FlopsConvention convention) {
  SegmentValues out{};
  for (const FlopsValue& row : stage.flops)
    out[place_of(row.phase, flops_group(row.kind))] += to_double(flops_of(row, convention).value);
  return out;
}

SegmentValues stage_seconds(const Simulation* simulation, const StageReport& stage) {
  SegmentValues out{};
  if (!simulation) return out;
  for (const KernelTime& time : simulation->stages[static_cast<size_t>(stage.stage)].kernels)
    out[place_of(time.phase, flops_group(time.kind))] += time.seconds;
  return out;
}

}  // namespace

std::vector<const FlopsValue*> flops_rows(const StageReport& stage, const FlopsSegment& segment) {
  std::vector<const FlopsValue*> rows;
  for (const FlopsValue& row : stage.flops) {
    if (row.phase == segment.phase && flops_group(row.kind) == segment.group) rows.push_back(&row);
  }
  return rows;
}

double segment_seconds(const Simulation& simulation, const StageReport& stage, const FlopsSegment& segment) {
  double sum = 0;
  for (const KernelTime& time : simulation.stages[static_cast<size_t>(stage.stage)].kernels)
    if (time.phase == segment.phase && flops_group(time.kind) == segment.group) sum += time.seconds;
  return sum;
}

namespace {

// The largest value that a segment has on any stage. values(stage): the SegmentValues of a stage.
template <typename Values>
SegmentValues largest_values(const Report& report, const Values& values) {
  SegmentValues out{};
  for (const StageReport& stage : report.stages) {
    const SegmentValues of = values(stage);
    for (size_t i = 0; i < out.size(); ++i) out[i] = std::max(out[i], of[i]);
  }
  return out;
}

std::vector<FlopsSegment> present(const SegmentValues& largest) {
  std::vector<FlopsSegment> segments;
  for (int phase = 0; phase < kPhaseCount; ++phase)
    for (const FlopsGroup group : kGroups)
      if (largest[place_of(static_cast<Phase>(phase), group)] > 0)
        segments.push_back({group, static_cast<Phase>(phase)});
  return segments;
}

// The series, legend and values. tallest: the value of the tallest bar.
template <typename Values>
void add_segments(BarData& data, const Report& report, const std::vector<FlopsSegment>& segments,
                  double tallest, const Values& values) {
  const SegmentValues largest = largest_values(report, values);
  std::vector<Phase> phases;
  for (const FlopsSegment& segment : segments) {
    const QString label = QStringLiteral("%1, %2").arg(flops_group_label(segment.group),
                                                       words(phase_name(segment.phase)));
    data.series.push_back({label, group_color(segment.group), fill_of(segment.phase)});
    if (std::find(phases.begin(), phases.end(), segment.phase) == phases.end())
      phases.push_back(segment.phase);
  }
  for (const FlopsGroup group : kGroups) {
    const bool visible = std::any_of(segments.begin(), segments.end(), [&](const FlopsSegment& segment) {
      return segment.group == group && largest[place_of(segment.phase, group)] >= kLeastInLegend * tallest;
    });
    if (visible) data.legend.push_back({flops_group_label(group), group_color(group)});
  }
  // The fill pattern shows the phase.
  for (const Phase phase : phases) {
    if (phase == Phase::Forward || phase == Phase::Recompute || phase == Phase::Backward) {
      data.legend.push_back({words(phase_name(phase)), Theme::instance().colors().secondary, fill_of(phase)});
    }
  }
  for (const StageReport& stage : report.stages) {
    const SegmentValues of = values(stage);
    std::vector<double>& bar = data.values.emplace_back();
    for (const FlopsSegment& segment : segments) bar.push_back(of[place_of(segment.phase, segment.group)]);
  }
}

}  // namespace

std::vector<FlopsSegment> flops_segments(const Report& report, FlopsConvention convention) {
  return present(
      largest_values(report, [&](const StageReport& stage) { return stage_flops(stage, convention); }));
}

std::vector<FlopsSegment> time_segments(const Report& report, const Simulation* simulation) {
  return present(largest_values(report, [&](const StageReport& stage) {
    SegmentValues out = stage_flops(stage, FlopsConvention::Counted);
    const SegmentValues seconds = stage_seconds(simulation, stage);
    for (size_t i = 0; i < out.size(); ++i) out[i] += seconds[i];
    return out;
  }));
}

BarData flops_bars(const Report& report, FlopsConvention convention) {
  BarData data;
  double largest = 0;
  for (const StageReport& stage : report.stages)
    largest = std::max(largest, to_double(flops_total(stage, convention)));
  const ValueScale scale = flop_scale(largest);
  data.unit = scale.unit;
  data.divisor = scale.divisor;
  data.text = [](double value) { return flops_text(static_cast<Wide>(value)); };
  data.nothing = tr_bars("No FLOPs on any stage.");
  add_segments(data, report, flops_segments(report, convention), largest,
               [&](const StageReport& stage) { return stage_flops(stage, convention); });
  return data;
}

BarData time_bars(const Report& report, const Simulation* simulation) {
  BarData data;
  double longest = 0;
  for (size_t stage = 0; simulation && stage < simulation->stages.size(); ++stage)
    longest = std::max(longest, kernel_seconds(simulation->stages[stage]));
  const ValueScale scale = seconds_scale(longest);
  data.unit = scale.unit;
  data.divisor = scale.divisor;
  data.text = [](double value) { return seconds_text(value); };
  data.nothing = tr_bars("No estimate of the step.");
  add_segments(data, report, time_segments(report, simulation), longest,
               [&](const StageReport& stage) { return stage_seconds(simulation, stage); });
  return data;
}

}  // namespace shardscape::ui
