#include "ui/views/explore/explore_inspection.h"

#include <QCoreApplication>

#include "ui/toolkit/display_text.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

struct Texts {
  Q_DECLARE_TR_FUNCTIONS(Explore)
};

// "9.84 s · 61.3 GiB · does not fit"
QString figures(const Evaluation& of, UnitSystem units) {
  QStringList parts{text_of(format_seconds(of.step_seconds)), bytes_text(of.memory, units)};
  if (of.feasibility == Feasibility::DoesNotFit) parts << Texts::tr("does not fit");
  return parts.join(QStringLiteral(" · "));
}

}  // namespace

Inspection inspectSensitivity(const Sensitivity& of, const KnobSensitivity& knob, UnitSystem units) {
  Inspection out;
  out.title = text_of(knob.knob->label);
  out.subtitle = Texts::tr("now %1: %2")
                     .arg(displayText(*knob.knob, text_of(knob.value)), figures(of.now, units));
  out.why = text_of(knob.knob->help);
  out.why_first = true;
  for (const Neighbour& n : knob.neighbours) {
    const double by = of.now.tokens_per_second > 0
                          ? n.evaluation.tokens_per_second / of.now.tokens_per_second - 1
                          : 0;
    QString value = signed_percent_text(by) + Texts::tr(" tokens/s, ") + figures(n.evaluation, units);
    QStringList also;
    for (const auto& [id, changed] : n.also) {
      const Knob* other = find_knob(id);
      also << (other ? text_of(other->label) + u' ' + displayText(*other, text_of(changed)) : text_of(id));
    }
    if (!also.isEmpty()) value += Texts::tr("; with %1").arg(also.join(QStringLiteral(", ")));
    out.rows.push_back({displayText(*knob.knob, text_of(n.value)), value});
  }
  return out;
}

Inspection inspectScale(const ScalePoint& p, bool weak, Mode mode, UnitSystem units) {
  Inspection out;
  out.title = Texts::tr("%1 GPUs").arg(grouped_text(p.gpus));
  out.subtitle = weak ? Texts::tr("weak scaling: the batch grows")
                      : Texts::tr("strong scaling: constant batch");
  out.rows = {{Texts::tr("Data parallel"), grouped_text(p.dp)}, {Texts::tr("Batch"), grouped_text(p.batch)}};
  if (!p.wrong.empty()) {
    out.why_title = Texts::tr("Why is there no step?");
    out.why = text_of(p.wrong);
    return out;
  }
  const Evaluation& e = p.evaluation;
  out.rows.push_back({stepLabel(mode), text_of(format_seconds(e.step_seconds))});
  out.rows.push_back({Texts::tr("Tokens/s"), grouped_text(static_cast<Wide>(e.tokens_per_second))});
  out.rows.push_back({Texts::tr("Efficiency"), percent_text(p.efficiency)});
  out.rows.push_back({Texts::tr("Exposed communication"), percent_text(e.exposed)});
  out.rows.push_back({Texts::tr("Bubble"), percent_text(e.bubble)});
  out.rows.push_back({Texts::tr("Memory"), bytes_text(e.memory, units)});
  if (e.capacity > 0)
    out.rows.push_back(
        {Texts::tr("Fits"), e.feasibility == Feasibility::Fits ? Texts::tr("yes") : Texts::tr("no")});
  if (p.cost.dollars)
    out.rows.push_back(
        {Texts::tr("Million tokens"), QStringLiteral("$") + text_of(significant(*p.cost.dollars))});
  if (p.cost.kwh)
    out.rows.push_back({Texts::tr("Energy of a million tokens"),
                        text_of(significant(*p.cost.kwh)) + QStringLiteral(" kWh")});
  return out;
}

}  // namespace shardscape::ui
