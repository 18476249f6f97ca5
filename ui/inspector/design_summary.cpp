#include "ui/inspector/design_summary.h"

#include <algorithm>
#include <utility>

#include "base/units.h"
#include "campaign/campaign.h"
#include "design/knobs/knobs.h"
#include "memory/memory_timeline.h"
#include "model/library.h"
#include "report/campaign_report.h"
#include "ui/plot/missing_cost_line.h"
#include "ui/toolkit/stage_text.h"
#include "ui/toolkit/substituted_formula.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

QString model_name(const Design& design) {
  const Preset* preset = ModelLibrary::instance().preset(design.model.preset);
  if (!preset) return text_of(design.name);
  return preset->model == design.model ? text_of(preset->name)
                                       : Session::tr("%1, edited").arg(text_of(preset->name));
}

QString mesh_text(const Report& report) {
  QStringList degrees;
  const ParallelSpec& p = report.design.parallel;
  for (const auto& [name, degree] : {std::pair{"tp", p.tp}, {"cp", p.cp}, {"pp", p.pp}, {"dp", p.dp}}) {
    if (degree > 1) degrees << QString("%1 %2").arg(QLatin1String(name), text_of(grouped(degree)));
  }
  const QString experts = p.ep > 1 ? Session::tr(", experts over ep %1").arg(text_of(grouped(p.ep)))
                                   : QString();
  const QString ranks = report.ranks == 1 ? Session::tr("1 rank")
                                          : Session::tr("%1 ranks").arg(text_of(grouped(report.ranks)));
  return degrees.isEmpty() ? ranks : ranks + " = " + degrees.join(QStringLiteral(" · ")) + experts;
}

QString why_peak(const Report& report) {
  const StageReport& peak = report.stages[static_cast<size_t>(report.memory->peak_stage)];
  const auto largest = std::max_element(
      std::begin(peak.memory), std::end(peak.memory),
      [](const Quantity& a, const Quantity& b) { return a.value < b.value; });
  const auto category = static_cast<MemoryCategory>(largest - std::begin(peak.memory));
  const double share = peak.memory_total ? 100 * to_double(largest->value) / to_double(peak.memory_total) : 0;
  return Session::tr(
             "A rank of stage %1 holds %2 layers and the saved activations of %3. The largest part is %4, %5 "
             "% of the rank's memory.")
      .arg(report.memory->peak_stage)
      .arg(peak.layers)
      .arg(in_flight_text(peak))
      .arg(QString::fromUtf8(memory_category_label(category)).toLower(), text_of(significant(share)));
}

// The training run, if the design has a budget of tokens.
void add_run(Inspection& summary, const Report& report, const Simulation* simulation) {
  if (!simulation || !trains(report.design) || report.design.workload.tokens == 0) return;
  const Campaign run = campaign(report, *simulation);
  const auto add = [&](const QString& name, const QString& value) {
    summary.figures.push_back({name, value});
  };
  add(Session::tr("Training run"), Session::tr("%1 tokens").arg(text_of(format_count(run.tokens))));
  if (run.hopeless) {
    add(Session::tr("Time"), Session::tr("no end: interruptions come faster than restarts and saves"));
    return;
  }
  add(Session::tr("Time"), text_of(band_text(run.days, "days")));
  add(Session::tr("Dollars"), run.dollars ? Session::tr("%1 (%2 to %3)")
                                                .arg(text_of(dollars_text(run.dollars->mean)),
                                                     text_of(dollars_text(run.dollars->low)),
                                                     text_of(dollars_text(run.dollars->high)))
                                          : missingCostTip(report.design.cluster, "price_per_hour"));
  add(Session::tr("Energy"),
      run.mwh ? text_of(band_text(*run.mwh, "MWh")) : missingCostTip(report.design.cluster, "board_power"));
  for (const MissingCost& missing : missing_costs({report.design.cluster})) {
    InspectedLink link;
    link.label = text_of(find_knob(missing.knob)->label);
    link.text = Session::tr("set in Cluster");
    link.knob = text_of(missing.knob);
    summary.links.push_back(std::move(link));
  }
  add(Session::tr("Interruptions"), text_of(band_text(run.interruptions, "")));
}

}  // namespace

Inspection designSummary(const Session& session) {
  Inspection summary;
  const std::shared_ptr<const Report> report = session.report();
  if (!report || !report->valid()) return summary;
  summary.title = model_name(report->design);
  summary.subtitle = mesh_text(*report);
  const auto& estimate = session.estimate();
  add_run(summary, *report, estimate && estimate->report == report ? estimate->simulation.get() : nullptr);

  const auto add = [&](const QString& label, const Quantity& quantity, const Binding& binding,
                       const QString& value) {
    if (!quantity.formula) return;
    summary.values.push_back(
        {label, text_of(quantity.formula->text()), substituted(*quantity.formula, binding), value});
  };
  add(Session::tr("Parameters of the model"), report->model_parameters, report->binding,
      text_of(grouped(report->model_parameters.value)));
  const StageReport& peak = report->stages[static_cast<size_t>(report->memory->peak_stage)];
  add(Session::tr("Parameters of a rank, stage %1").arg(peak.stage), peak.parameters, peak.binding,
      text_of(grouped(peak.parameters.value)));

  if (report->active_parameters.value != report->model_parameters.value)
    add(Session::tr("Active parameters per token"), report->active_parameters, report->binding,
        text_of(grouped(report->active_parameters.value)));
  if (report->kv_cache_bytes.value > 0)
    add(Session::tr("KV cache of one token"), report->kv_cache_bytes, report->binding,
        text_of(format_bytes(report->kv_cache_bytes.value, session.units())));
  if (report->window_bytes.value > 0)
    add(Session::tr("Cached window of one sequence"), report->window_bytes, report->binding,
        text_of(format_bytes(report->window_bytes.value, session.units())));
  if (report->state_bytes.value > 0)
    add(Session::tr("Mixer states of one sequence"), report->state_bytes, report->binding,
        text_of(format_bytes(report->state_bytes.value, session.units())));

  summary.rows.push_back({Session::tr("Tokens per step"), text_of(grouped(report->tokens_per_step))});
  summary.rows.push_back({Session::tr("Microbatches of a replica"), text_of(grouped(report->microbatches))});
  summary.rows.push_back({Session::tr("Compute per step, all ranks"),
                          text_of(format_flops(static_cast<Wide>(report->step_flops)))});
  summary.rows.push_back(
      {Session::tr("Communicated per step, all ranks"),
       text_of(format_bytes(static_cast<Wide>(report->step_comm_bytes), session.units()))});
  for (const DerivedSymbol& derived : report->derived) {
    const std::optional<int64_t> value = report->binding.get(derived.symbol);
    if (value) summary.rows.push_back({text_of(derived.definition()), text_of(grouped(*value))});
  }
  for (const DerivedSymbol& derived : stage_derived(*report, peak)) {
    const std::optional<int64_t> value = peak.binding.get(derived.symbol);
    if (value) summary.rows.push_back({text_of(derived.definition()), text_of(grouped(*value))});
  }
  const ValueScale scale = rank_memory_scale(to_double(peak.memory_total),
                                             session.units());  // parts and sum in one unit
  for (int i = 0; i < kMemoryCategoryCount; ++i) {
    const auto category = static_cast<MemoryCategory>(i);
    if (peak.memory[i].value == 0) continue;
    summary.rows.push_back(
        {QString::fromUtf8(memory_category_label(category)), with_unit(peak.memory[i].value, scale)});
  }
  summary.rows.push_back(
      {Session::tr("A rank of stage %1").arg(peak.stage), with_unit(peak.memory_total, scale)});
  summary.why_title = report->stages.size() > 1 ? Session::tr("Why is stage %1 the largest?").arg(peak.stage)
                                                : Session::tr("What takes the memory?");
  summary.why = why_peak(*report);
  return summary;
}

}  // namespace shardscape::ui
