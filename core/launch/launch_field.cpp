#include "launch/launch_field.h"

namespace shardscape {

std::span<const LaunchUseText> launch_uses() {
  static constexpr LaunchUseText kUses[] = {
      {LaunchUse::NotUnderstood, "not_understood", "Not understood"},
      {LaunchUse::NoCounterpart, "no_counterpart", "Without a setting (the design differs from the launch)"},
      {LaunchUse::Taken, "taken", "Taken"},
      {LaunchUse::Derived, "derived", "Derived by the framework's rules"},
      {LaunchUse::Assumed, "assumed", "Assumed: defaults of the framework"},
      {LaunchUse::NoEffect, "no_effect", "Without effect on memory and time"}};
  return kUses;
}

std::string launch_field_note(const LaunchField& field) {
  std::string out;
  for (const std::string& knob : field.knobs) out += (out.empty() ? "" : ", ") + knob;
  const std::string reason = launch_field_reason(field);
  return out + (out.empty() || reason.empty() || field.note.empty() ? "" : ":") +
         (out.empty() || reason.empty() ? "" : " ") + reason;
}

std::string launch_field_reason(const LaunchField& field) {
  if (field.source.empty()) return field.note;
  return field.note + (field.note.empty() ? "(" : " (") + field.source + ")";
}

}  // namespace shardscape
