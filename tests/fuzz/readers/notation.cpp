#include <array>

#include "design/knobs/knobs.h"
#include "explore/constraint.h"
#include "explore/values.h"
#include "fuzz/reader.h"
#include "model/block.h"
#include "model/layer_pattern.h"
#include "model/layer_variant.h"
#include "model/made_kinds.h"
#include "model/source_place.h"
#include "model/weight_format.h"

namespace shardscape::fuzz {
namespace {

std::string values(const std::string& text) {
  for (const Knob& knob : knobs())
    if (knob.type == KnobType::Integer || knob.type == KnobType::Choice)
      if (std::string refused = reason(parse_values(knob, text)); !refused.empty()) return refused;
  return {};
}

std::string setting(const std::string& text) {
  Design design;
  std::string refused;
  for (const Knob& knob : knobs())
    if (auto problem = set_knob(design, knob, text)) refused = to_string(*problem);
  return refused;
}

using Notation = std::string (*)(const std::string& text);
constexpr std::array<Notation, 8> kNotations{
    [](const std::string& text) { return reason(Constraint::parse(text)); },
    [](const std::string& text) { return reason(parse_op_line(text, SourcePlace{})); },
    [](const std::string& text) { return reason(parse_layer_pattern(text)); },
    [](const std::string& text) { return reason(parse_layer_variants(text)); },
    [](const std::string& text) { return reason(parse_weight_formats(text)); },
    [](const std::string& text) { return reason(parse_architecture_call(text)); },
    values,
    setting};

}  // namespace

// The first character chooses the notation.
std::string notation(std::string_view input) {
  if (input.empty()) return "the input is empty";
  const auto kind = static_cast<unsigned char>(input.front()) % kNotations.size();
  return kNotations[kind](std::string(input.substr(1)));
}

}  // namespace shardscape::fuzz
