#include "accuracy/error_case.h"

#include <algorithm>
#include <array>

#include "hardware/accelerator.h"

namespace shardscape {
namespace {

struct Words {
  std::string_view name, label;
};
constexpr std::array<Words, kPrecisionClassCount> kPrecisions{
    {{"32", "32 bits"}, {"16", "16 bits"}, {"8", "8 bits"}, {"4", "4 bits"}}};
constexpr std::array<Words, kModelKindCount> kKinds{{{"dense", "dense models"},
                                                     {"experts", "mixtures of experts"},
                                                     {"hybrid", "models with state-space or linear layers"}}};
constexpr std::array<Words, kScaleClassCount> kScales{{{"node", "one node"},
                                                       {"up_to_64", "several nodes, up to 64 GPUs"},
                                                       {"up_to_1024", "up to 1,024 GPUs"},
                                                       {"more", "more than 1,024 GPUs"}}};

PrecisionClass class_of(DType type) {
  constexpr int64_t kBits32 = 32, kBits16 = 16, kBits8 = 8;
  const int64_t bits = element_format(type).bits;
  return bits >= kBits32   ? PrecisionClass::Bits32
         : bits >= kBits16 ? PrecisionClass::Bits16
         : bits >= kBits8  ? PrecisionClass::Bits8
                           : PrecisionClass::Bits4;
}

}  // namespace

std::string_view precision_class_name(PrecisionClass p) { return kPrecisions[static_cast<size_t>(p)].name; }
std::string_view model_kind_name(ModelKind k) { return kKinds[static_cast<size_t>(k)].name; }
std::string_view scale_class_name(ScaleClass s) { return kScales[static_cast<size_t>(s)].name; }
std::string_view precision_class_label(PrecisionClass p) { return kPrecisions[static_cast<size_t>(p)].label; }
std::string_view model_kind_label(ModelKind k) { return kKinds[static_cast<size_t>(k)].label; }
std::string_view scale_class_label(ScaleClass s) { return kScales[static_cast<size_t>(s)].label; }

ErrorCase error_case(const Design& design) {
  constexpr int64_t kSmall = 64, kMiddle = 1024;
  ErrorCase out;
  const Accelerator* accelerator = find_accelerator(design.cluster.accelerator);
  out.accelerator = accelerator ? accelerator->id : design.cluster.accelerator;
  out.precision = class_of(compute_dtype(design.workload));
  if (!trains(design))
    for (const auto& [role, format] : design.model.weight_formats)
      if (format != WeightFormat::Plain)
        out.precision = std::max(out.precision, class_of(stored_type(format)));
  const ModelSpec& m = design.model;
  if (m.ssm_state > 0 || m.linear_value_heads > 0)
    out.kind = ModelKind::Hybrid;
  else if (m.experts > 0)
    out.kind = ModelKind::Experts;
  const int64_t ranks = design.world();
  out.scale = ranks <= design.cluster.gpus_per_node ? ScaleClass::Node
              : ranks <= kSmall                     ? ScaleClass::UpTo64
              : ranks <= kMiddle                    ? ScaleClass::UpTo1024
                                                    : ScaleClass::More;
  return out;
}

}  // namespace shardscape
