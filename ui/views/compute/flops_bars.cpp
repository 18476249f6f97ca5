#include "ui/views/compute/flops_bars.h"

#include <QCoreApplication>
#include <algorithm>

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

double segment_value(const StageReport& stage, const FlopsSegment& segment, FlopsConvention convention) {
  double sum = 0;
  for (const FlopsValue* row : flops_rows(stage, segment)) sum += to_double(flops_of(*row, convention).value);
  return sum;
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

// value(stage, segment): of a bar segment.
template <typename Value>
std::vector<FlopsSegment> segments_with(const Report& report, const Value& value) {
  std::vector<FlopsSegment> segments;
  for (int phase = 0; phase < kPhaseCount; ++phase) {
    for (const FlopsGroup group : kGroups) {
      const FlopsSegment segment{group, static_cast<Phase>(phase)};
      const bool anywhere = std::any_of(report.stages.begin(), report.stages.end(),
                                        [&](const StageReport& stage) { return value(stage, segment) > 0; });
      if (anywhere) segments.push_back(segment);
    }
  }
  return segments;
}

// The series, legend and values. largest: the tallest bar.
template <typename Value>
void add_segments(BarData& data, const Report& report, const std::vector<FlopsSegment>& segments,
                  double largest, const Value& value) {
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
      return segment.group == group &&
             std::any_of(report.stages.begin(), report.stages.end(), [&](const StageReport& stage) {
               return value(stage, segment) >= kLeastInLegend * largest;
             });
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
    std::vector<double> values;
    for (const FlopsSegment& segment : segments) values.push_back(value(stage, segment));
    data.values.push_back(std::move(values));
  }
}

}  // namespace

std::vector<FlopsSegment> flops_segments(const Report& report, FlopsConvention convention) {
  return segments_with(report, [&](const StageReport& stage, const FlopsSegment& segment) {
    return segment_value(stage, segment, convention);
  });
}

std::vector<FlopsSegment> time_segments(const Report& report, const Simulation* simulation) {
  return segments_with(report, [&](const StageReport& stage, const FlopsSegment& segment) {
    return segment_value(stage, segment, FlopsConvention::Counted) +
           (simulation ? segment_seconds(*simulation, stage, segment) : 0);
  });
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
               [&](const StageReport& stage, const FlopsSegment& segment) {
                 return segment_value(stage, segment, convention);
               });
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
               [&](const StageReport& stage, const FlopsSegment& segment) {
                 return simulation ? segment_seconds(*simulation, stage, segment) : 0;
               });
  return data;
}

}  // namespace shardscape::ui
