#include "ui/inspector/inspected_quantity.h"

#include "ui/toolkit/substituted_formula.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {

InspectedValue inspectedQuantity(const QString& label, const Quantity& quantity, const Binding& binding,
                                 const QString& value) {
  InspectedValue entry{label, {}, {}, value};
  if (quantity.formula) {
    entry.formula = text_of(quantity.formula->text());
    // A constant has no symbols: with numbers the formula would appear twice.
    if (!quantity.formula->is_constant()) entry.substituted = substituted(*quantity.formula, binding);
  }
  return entry;
}

}  // namespace shardscape::ui
