#include "ui/views/communication/collectives_model.h"

#include <algorithm>
#include <optional>

#include "ui/inspector/communication_inspection.h"
#include "ui/session/comparisons.h"
#include "ui/toolkit/glossary.h"

namespace shardscape::ui {
namespace {

QString formula_text(const Quantity& quantity) {
  return QString::fromStdString(quantity.formula ? quantity.formula->text() : std::string());
}

// Bytes of the same collective on another design's stage. Of several equal collectives, the one at the same
// position.
std::optional<double> bytes_there(const StageReport& of, size_t row, const StageReport& other) {
  const auto same_collective = [&](const CollectiveValue& a) {
    const CollectiveValue& b = of.collectives[row];
    return a.phase == b.phase && a.op == b.op && a.group == b.group && a.dtype == b.dtype;
  };
  auto before = std::count_if(of.collectives.begin(),
                              of.collectives.begin() + static_cast<std::ptrdiff_t>(row), same_collective);
  for (const CollectiveValue& value : other.collectives)
    if (same_collective(value) && before-- == 0) return to_double(value.bytes.value);
  return std::nullopt;
}

// The columns of times, empty without a simulation.
struct TimeCells {
  TableCell level, time, exposed, per_call, bus;
};
TimeCells time_cells(const Simulation* simulation, const CollectiveTime* of, const ValueScale& scale) {
  if (!of) return {};
  const auto seconds = [](double value, const QString& text, const QString& tip) {
    TableCell cell = real_cell(value, text);
    cell.tip = tip;
    return cell;
  };
  TimeCells out{text_cell(text_of(network_level_label(of->level, simulation->machine.network)),
                          text_of(network_level_name(of->level))),
                seconds(of->seconds, scaled_real_text(of->seconds, scale), seconds_text(of->seconds)),
                seconds(of->exposed, scaled_real_text(of->exposed, scale),
                        TableModel::tr("%1 of the time")
                            .arg(percent_text(of->seconds > 0 ? of->exposed / of->seconds : 0))),
                real_cell(of->per_call, seconds_text(of->per_call)),
                real_cell(of->bus_rate, of->bus_rate > 0 ? text_of(significant(of->bus_rate * 1e-9))
                                                         : QStringLiteral("–"))};
  out.level.sort = static_cast<int>(of->level);
  const QString level = Glossary::instance().tip(out.level.text);
  out.level.term = !level.isEmpty();
  out.level.tip = level + u'\n' + text_of(span_text(simulation->machine.network, of->span));
  return out;
}

}  // namespace

void CollectivesModel::setReport(const Report& report, const Simulation* simulation, int stage,
                                 UnitSystem units, const std::vector<OtherDesign>& others) {
  Rows rows;
  double largest = 0, longest = 0;
  for (const StageReport& of : report.stages)
    for (const CollectiveValue& value : of.collectives)
      if (stage == kAllStages || of.stage == stage) {
        largest = std::max(largest, to_double(value.bytes.value));
        if (const CollectiveTime* time = time_of(simulation, of, value))
          longest = std::max(longest, time->seconds);
      }
  const ValueScale scale = byte_scale(largest, units), seconds = seconds_scale(longest);
  for (const StageReport& of : report.stages) {
    if (stage != kAllStages && of.stage != stage) continue;
    for (size_t row = 0; row < of.collectives.size(); ++row) {
      const CollectiveValue& value = of.collectives[row];
      const TimeCells time = time_cells(simulation, time_of(simulation, of, value), seconds);
      rows.push_back(
          {number_cell(of.stage, grouped_text(of.stage)),
           text_cell(words(phase_name(value.phase)), text_of(phase_name(value.phase))),
           text_cell(words(value.op.name(), u'-'), text_of(value.op.name())), text_cell(text_of(value.group)),
           number_cell(value.group_size, grouped_text(value.group_size)), time.level,
           text_cell(text_of(dtype_name(value.dtype))),
           number_cell(value.count.value, grouped_text(value.count.value), formula_text(value.count)),
           time.time, time.exposed, time.per_call, time.bus,
           number_cell(value.elements.value, count_text(value.elements.value)),
           number_cell(value.bytes.value, scaled_text(value.bytes.value, scale),
                       exact_bytes_text(value.bytes.value)),
           text_cell(formula_text(value.bytes))});
      for (const OtherDesign& other : others) {
        const int there = Comparisons::sameStagePlace(of.stage, static_cast<int>(report.stages.size()),
                                                      static_cast<int>(other.report->stages.size()));
        for (TableCell& cell :
             comparisonCells(to_double(value.bytes.value),
                             bytes_there(of, row, other.report->stages[static_cast<size_t>(there)]),
                             [&](double bytes) { return scaled_text(static_cast<Wide>(bytes), scale); }))
          rows.back().push_back(std::move(cell));
      }
    }
  }
  std::vector<TableColumn> columns{
      {QStringLiteral("Stage"), QStringLiteral("stage"), true, {}},
      {QStringLiteral("Phase"), QStringLiteral("phase"), false, {}},
      {QStringLiteral("Operation"), QStringLiteral("op"), false, {}},
      {QStringLiteral("Group"), QStringLiteral("group"), false,
       QStringLiteral("Ranks that take part, by mesh axis")},
      {QStringLiteral("Size"), QStringLiteral("group size"), true, QStringLiteral("Ranks in the group")},
      {QStringLiteral("Level"), QStringLiteral("level"), false, {}},
      {QStringLiteral("Type"), QStringLiteral("dtype"), false, {}, true},
      {QStringLiteral("Count"), QStringLiteral("count"), true, QStringLiteral("Calls per step of one rank")},
      {tr("Time\n%1").arg(seconds.unit), QStringLiteral("time (s)"), true,
       tr("Seconds of all calls in a step, hidden by compute or not")},
      {tr("Exposed\n%1").arg(seconds.unit), QStringLiteral("exposed (s)"), true,
       tr("The part of the time that compute waits for in the simulated step. A message is exposed at its "
          "receiver")},
      {tr("Per call"), QStringLiteral("per call (s)"), true, tr("Mean time of a call"), true},
      {tr("Bus\nGB/s"), QStringLiteral("bus bandwidth (B/s)"), true, bus_rate_note()},
      {QStringLiteral("Elements"), QStringLiteral("elements"), true,
       QStringLiteral("Elements of the full buffers, all calls together"), true},
      {scale.unit, QStringLiteral("bytes"), true,
       QStringLiteral("Bytes of the full buffers, all calls together")},
      {QStringLiteral("Formula (bytes)"), QStringLiteral("formula (bytes)"), false, {}}};
  for (const OtherDesign& other : others)
    for (TableColumn& column :
         comparisonColumns(other.member, {}, QStringLiteral("bytes"),
                           tr("The same collective on the stage at the same relative place of its pipeline")))
      columns.push_back(std::move(column));
  assign(std::move(columns), std::move(rows));
}

}  // namespace shardscape::ui
