// The machine of a design as a table: every value, its unit, and where it comes from.
#pragma once

#include "design/knobs/machine_table.h"
#include "design/knobs/zero_value.h"
#include "ui/plot/table_model.h"

namespace shardscape::ui {

class MachineModel : public TableModel {
  Q_OBJECT
 public:
  enum Column { Part, Name, Value, Unit, Origin, Source };

  using TableModel::TableModel;
  void setMachine(const std::vector<MachineSection>& sections);
  const MachineValue& value(int row) const { return values_[static_cast<size_t>(row)]; }
  // The setting of the cluster that overrides the value; nullptr: none does.
  const Knob* knob(int row) const { return machine_knob(value(row).key); }
  bool isSet(int row) const { return knob(row) && value(row).origin == ValueOrigin::Design; }
  Qt::ItemFlags flags(const QModelIndex& index) const override;

 private:
  std::vector<MachineValue> values_;
};

QString originText(ValueOrigin origin);  // "Catalogue", "This design"

}  // namespace shardscape::ui
