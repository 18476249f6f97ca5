#include "ui/views/communication/collectives_model.h"

#include <algorithm>
#include <optional>

#include "ui/session/comparisons.h"

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

}  // namespace

void CollectivesModel::setReport(const Report& report, int stage, UnitSystem units,
                                 const std::vector<OtherDesign>& others) {
  Rows rows;
  double largest = 0;
  for (const StageReport& of : report.stages)
    for (const CollectiveValue& value : of.collectives)
      if (stage == kAllStages || of.stage == stage) largest = std::max(largest, to_double(value.bytes.value));
  const ValueScale scale = byte_scale(largest, units);
  for (const StageReport& of : report.stages) {
    if (stage != kAllStages && of.stage != stage) continue;
    for (size_t row = 0; row < of.collectives.size(); ++row) {
      const CollectiveValue& value = of.collectives[row];
      rows.push_back(
          {number_cell(of.stage, grouped_text(of.stage)),
           text_cell(words(phase_name(value.phase)), text_of(phase_name(value.phase))),
           text_cell(words(value.op.name(), u'-'), text_of(value.op.name())), text_cell(text_of(value.group)),
           number_cell(value.group_size, grouped_text(value.group_size)),
           text_cell(text_of(dtype_name(value.dtype))),
           number_cell(value.count.value, grouped_text(value.count.value), formula_text(value.count)),
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
      {QStringLiteral("Type"), QStringLiteral("dtype"), false, {}},
      {QStringLiteral("Count"), QStringLiteral("count"), true, QStringLiteral("Calls per step of one rank")},
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
