#include "ui/shell/machine_model.h"

#include "ui/plot/comparison_cells.h"

namespace shardscape::ui {

QString originText(ValueOrigin origin) {
  switch (origin) {
    case ValueOrigin::Catalogue: return MachineModel::tr("Catalogue");
    case ValueOrigin::Design: return MachineModel::tr("This design");
    case ValueOrigin::Calibration: return MachineModel::tr("Measured");
    case ValueOrigin::Program: return MachineModel::tr("Assumed");
  }
  return {};
}

void MachineModel::setMachine(const std::vector<MachineSection>& sections) {
  Rows rows;
  values_.clear();
  for (const MachineSection& section : sections)
    for (const MachineValue& v : section.values) {
      values_.push_back(v);
      TableCell amount = v.number ? real_cell(*v.number, text_of(v.value)) : text_cell(text_of(v.value));
      amount.strong = amount.set = v.origin == ValueOrigin::Design;
      rows.push_back({text_cell(text_of(section.title)), text_cell(text_of(v.label), text_of(v.key)),
                      std::move(amount), text_cell(text_of(v.unit)),
                      text_cell(originText(v.origin), text_of(origin_name(v.origin))),
                      text_cell(text_of(v.source))});
      for (TableCell& cell : rows.back()) cell.tip = text_of(v.source);
    }
  assign({{tr("Part"), QStringLiteral("part"), false, {}},
          {tr("Value"), QStringLiteral("key"), false, {}},
          {tr("Amount"), QStringLiteral("amount"), true, {}},
          {tr("Unit"), QStringLiteral("unit"), false, {}},
          {tr("From"), QStringLiteral("origin"), false,
           tr("The origin of the value: the catalogue, a setting of this design, a measurement, or an "
              "assumption of the program")},
          {tr("Source"), QStringLiteral("source"), false, {}}},
         std::move(rows));
}

Qt::ItemFlags MachineModel::flags(const QModelIndex& index) const {
  Qt::ItemFlags flags = TableModel::flags(index);
  if (index.isValid() && index.column() == Value && knob(index.row())) flags |= Qt::ItemIsEditable;
  return flags;
}

}  // namespace shardscape::ui
