#include "ui/inspector/step_inspection.h"

#include <QCoreApplication>
#include <algorithm>

#include "report/time_report.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

QString tr_step(const char* text) { return QCoreApplication::translate("StepInspection", text); }

QString category_reason(TimeCategory category) {
  switch (category) {
    case TimeCategory::MatrixProducts: return tr_step("Matrix products, including recomputed ones.");
    case TimeCategory::Attention: return tr_step("Fused attention kernels and state-space mixers.");
    case TimeCategory::MemoryBound:
      return tr_step(
          "Norms, activation functions, casts, routing: ops that are limited by memory bandwidth.");
    case TimeCategory::TensorComm:
      return tr_step("Collectives over tp inside layers, while nothing is computed.");
    case TimeCategory::ContextComm:
      return tr_step("Exchange of keys and values with other cp ranks that attention does not hide.");
    case TimeCategory::ExpertComm:
      return tr_step("Exchange of tokens with expert ranks, while nothing is computed.");
    case TimeCategory::PipelineComm:
      return tr_step("The stage waits for a message between stages that is in transfer.");
    case TimeCategory::DataComm:
      return tr_step("Gradient reductions and parameter gathers that no compute hides.");
    case TimeCategory::Host:
      return tr_step("The stage waits for activations that move to or from the host's memory.");
    case TimeCategory::Optimizer: return tr_step("The update of the rank's share of the parameters.");
    case TimeCategory::Bubble:
      return tr_step("The stage waits for another stage: the pipeline fills, drains, or is unbalanced.");
  }
  return {};
}

constexpr size_t kMostStages = 64;  // that have a row each

// Joins two figures so that a line break is only possible between them.
QString together(QString a, QString b) {
  return a.replace(u' ', QChar(0xA0)) + QStringLiteral(", ") + b.replace(u' ', QChar(0xA0));
}

QString share_of(double part, double whole) { return percent_text(whole > 0 ? part / whole : 0); }

double mean_of(const Simulation& simulation, TimeCategory category) {
  double sum = 0;
  for (const StageTimes& stage : simulation.stages) sum += stage.seconds[static_cast<size_t>(category)];
  return sum / static_cast<double>(std::max<size_t>(1, simulation.stages.size()));
}

}  // namespace

QString mfu_text(const Simulation& simulation) {
  const std::string above = above_peak_text(simulation);
  return text_of(mfu_convention()) + (above.empty() ? QString() : u' ' + text_of(above) + u'.');
}

Inspection inspect_category(const Simulation& simulation, TimeCategory category) {
  Inspection out;
  const auto c = static_cast<size_t>(category);
  out.title = text_of(time_category_label(category));
  const double mean = mean_of(simulation, category);
  out.subtitle = tr_step("%1 of a step of %2, mean over stages")
                     .arg(share_of(mean, simulation.step_seconds), seconds_text(simulation.step_seconds));
  out.rows.append({tr_step("mean over stages"), seconds_text(mean)});
  out.rows.append({tr_step("on the critical path"), seconds_text(simulation.critical_seconds[c])});
  const size_t listed = std::min(simulation.stages.size(), kMostStages);
  for (size_t s = 0; s < listed; ++s)
    out.rows.append({tr_step("stage %1").arg(s),
                     together(seconds_text(simulation.stages[s].seconds[c]),
                              share_of(simulation.stages[s].seconds[c], simulation.step_seconds))});
  if (listed < simulation.stages.size()) {
    const auto less = [&](const StageTimes& a, const StageTimes& b) { return a.seconds[c] < b.seconds[c]; };
    const auto [low, high] = std::minmax_element(
        simulation.stages.begin() + static_cast<std::ptrdiff_t>(listed), simulation.stages.end(), less);
    out.rows.append({tr_step("%1 more stages").arg(simulation.stages.size() - listed),
                     tr_step("%1 to %2").arg(seconds_text(low->seconds[c]), seconds_text(high->seconds[c]))});
  }
  out.why_title = tr_step("What does this include?");
  out.why = category_reason(category);
  return out;
}

QString category_text(const Simulation& simulation, TimeCategory category) {
  const double mean = mean_of(simulation, category);
  return together(seconds_text(mean), share_of(mean, simulation.step_seconds));
}

QString stepComparisonText(const Simulation& now, const Simulation& other) {
  QStringList figures{seconds_text(other.step_seconds),
                      signed_percent_text(other.step_seconds / now.step_seconds - 1),
                      tr_step("MFU %1").arg(percent_text(other.mfu))};
  return figures.replaceInStrings(QStringLiteral(" "), QString(QChar(0xA0))).join(QStringLiteral(", "));
}

Inspection inspect_step(const Simulation& s) {
  Inspection out;
  out.title = tr_step("One step, %1").arg(seconds_text(s.step_seconds));
  if (s.machine.accelerator)
    out.subtitle = tr_step("estimated for %1").arg(text_of(s.machine.accelerator->name));
  out.rows.append({tr_step("tokens per second"), grouped_text(static_cast<Wide>(s.tokens_per_second))});
  out.rows.append({tr_step("model TFLOP/s per GPU"), QString::fromStdString(significant(s.model_tflops))});
  out.rows.append({tr_step("MFU"), percent_text(s.mfu)});
  out.rows.append(
      {tr_step("hardware TFLOP/s per GPU"), QString::fromStdString(significant(s.hardware_tflops))});
  out.rows.append({tr_step("HFU"), percent_text(s.hfu)});
  out.rows.append({tr_step("dense peak in %1").arg(text_of(dtype_name(s.peak_type))),
                   tr_step("%1 TFLOP/s").arg(text_of(significant(s.peak_tflops)))});
  out.rows.append({tr_step("bubble, mean over stages"), percent_text(s.bubble)});
  out.rows.append({tr_step("exposed communication"), percent_text(s.exposed)});
  out.more_title = tr_step("The critical path");
  for (int c = 0; c < kTimeCategoryCount; ++c)
    if (const double seconds = s.critical_seconds[static_cast<size_t>(c)]; seconds > 0)
      out.more.append({text_of(time_category_label(static_cast<TimeCategory>(c))),
                       together(seconds_text(seconds), share_of(seconds, s.step_seconds))});
  out.why_title = tr_step("How is MFU counted?");
  out.why = mfu_text(s);
  return out;
}

}  // namespace shardscape::ui
