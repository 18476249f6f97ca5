#include "ui/models/collectives_model.h"

#include <algorithm>

namespace shardscape::ui {
namespace {

QString formula_text(const Quantity& quantity) {
  return QString::fromStdString(quantity.formula ? quantity.formula->text() : std::string());
}

}  // namespace

void CollectivesModel::setReport(const Report& report, int stage, UnitSystem units) {
  Rows rows;
  double largest = 0;
  for (const StageReport& of : report.stages)
    for (const CollectiveValue& value : of.collectives)
      if (stage == kAllStages || of.stage == stage) largest = std::max(largest, to_double(value.bytes.value));
  const ValueScale scale = byte_scale(largest, units);
  for (const StageReport& of : report.stages) {
    if (stage != kAllStages && of.stage != stage) continue;
    for (const CollectiveValue& value : of.collectives) {
      rows.push_back(
          {number_cell(of.stage, grouped_text(of.stage)),
           text_cell(words(phase_name(value.phase)), text_of(phase_name(value.phase))),
           text_cell(words(value.op, u'-'), text_of(value.op)), text_cell(text_of(value.group)),
           number_cell(value.group_size, grouped_text(value.group_size)), text_cell(text_of(dtype_name(value.dtype))),
           number_cell(value.count.value, grouped_text(value.count.value), formula_text(value.count)),
           number_cell(value.elements.value, count_text(value.elements.value)),
           number_cell(value.bytes.value, scaled_text(value.bytes.value, scale), exact_bytes_text(value.bytes.value)),
           text_cell(formula_text(value.bytes))});
    }
  }
  assign({{QStringLiteral("Stage"), QStringLiteral("stage"), true, {}},
          {QStringLiteral("Phase"), QStringLiteral("phase"), false, {}},
          {QStringLiteral("Operation"), QStringLiteral("op"), false, {}},
          {QStringLiteral("Group"), QStringLiteral("group"), false, QStringLiteral("Ranks that take part, by mesh axis")},
          {QStringLiteral("Size"), QStringLiteral("group size"), true, QStringLiteral("Ranks in the group")},
          {QStringLiteral("Type"), QStringLiteral("dtype"), false, {}},
          {QStringLiteral("Count"), QStringLiteral("count"), true, QStringLiteral("Times in a step, for one rank")},
          {QStringLiteral("Elements"), QStringLiteral("elements"), true,
           QStringLiteral("Elements of the full buffers of all of them together")},
          {scale.unit, QStringLiteral("bytes"), true,
           QStringLiteral("Bytes of the full buffers of all of them together")},
          {QStringLiteral("Formula (bytes)"), QStringLiteral("formula (bytes)"), false, {}}},
         std::move(rows));
}

}  // namespace shardscape::ui
