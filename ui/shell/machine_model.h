// The machine of a design as a table: every value, its unit, and where it comes from.
#pragma once

#include "design/knobs/machine_table.h"
#include "ui/plot/table_model.h"

namespace shardscape::ui {

class MachineModel : public TableModel {
  Q_OBJECT
 public:
  enum Column { Part, Name, Value, Unit, Origin, Source };

  using TableModel::TableModel;
  void setMachine(const std::vector<MachineSection>& sections);
  const MachineValue& value(int row) const { return values_[static_cast<size_t>(row)]; }

 private:
  std::vector<MachineValue> values_;
};

QString originText(ValueOrigin origin);  // "Catalogue", "This design"

}  // namespace shardscape::ui
