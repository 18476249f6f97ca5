#include "accuracy/widening.h"

#include "hardware/accelerator.h"

namespace shardscape {
namespace {

std::string family_of(const std::string& accelerator) {
  const Accelerator* found = find_accelerator(accelerator);
  return found ? found->family : "";
}

}  // namespace

bool counts_for(const ErrorCase& row, const ErrorCase& of, Widening widening) {
  switch (widening) {
    case Widening::None: return row == of;
    case Widening::Scale:
      return row.accelerator == of.accelerator && row.precision == of.precision && row.kind == of.kind;
    case Widening::Kind: return row.accelerator == of.accelerator && row.precision == of.precision;
    case Widening::Precision: return row.accelerator == of.accelerator;
    case Widening::Accelerator: {
      const std::string family = family_of(of.accelerator);
      return !family.empty() && family_of(row.accelerator) == family;
    }
    case Widening::Family: return true;
  }
  return false;
}

std::string widening_text(Widening widening, const ErrorCase& of) {
  if (widening == Widening::Family) return "all accelerators";
  if (widening == Widening::Accelerator) return "accelerators of the family " + family_of(of.accelerator);
  const Accelerator* accelerator = find_accelerator(of.accelerator);
  std::string out = accelerator ? accelerator->name : of.accelerator;
  if (widening <= Widening::Kind) out += ", " + std::string(precision_class_label(of.precision));
  if (widening <= Widening::Scale) out += ", " + std::string(model_kind_label(of.kind));
  if (widening == Widening::None) out += ", " + std::string(scale_class_label(of.scale));
  return out;
}

}  // namespace shardscape
