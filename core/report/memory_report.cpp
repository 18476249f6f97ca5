#include "report/memory_report.h"
#include "report/report_json.h"

#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/units.h"
#include "timing/pass_times.h"

namespace shardscape {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kContributorsShown = 6;  // in text; JSON has all

Json categories_json(const CategoryBytes& bytes) {
  Json out = Json::object();
  for (int c = 0; c < kAllMemoryCategories; ++c)
    out[std::string(memory_category_name(static_cast<MemoryCategory>(c)))] = bytes[static_cast<size_t>(c)];
  return out;
}

Json when(const StageMemory& memory, StepOps* ops) {
  const auto seconds = ops ? peak_seconds(memory, *ops) : std::nullopt;
  return seconds ? Json(*seconds) : Json();
}

Json stage_json(const StageMemory& s, StepOps* ops) {
  Json contributors = Json::array();
  for (const MemoryContributor& c : s.contributors) {
    contributors.push_back(
        {{"name", c.name}, {"category", memory_category_name(c.category)}, {"bytes", c.bytes}});
    for (const auto& [layer, bytes] : c.layers)
      contributors.back()["layers"].push_back(
          {{"layer", layer < 0 ? Json() : Json(layer)}, {"bytes", bytes}});
  }
  return {{"allocated", s.allocated}, {"reserved", s.reserved},  {"in_use", s.in_use},
          {"moment", s.peak_text},    {"seconds", when(s, ops)}, {"categories", categories_json(s.at_peak)},
          {"culprits", contributors}};
}

Json use_json(const AllocatorUse& use) {
  return {{"allocated", use.allocated},       {"reserved", use.reserved}, {"unused", use.unused()},
          {"largest_free", use.largest_free}, {"retries", use.retries},   {"fits", use.fits}};
}

std::string use_text(const char* segments, const AllocatorUse& use) {
  std::string out = std::string(segments) + " segments: " + format_bytes(use.reserved) + " reserved, " +
                    format_bytes(use.unused()) + " unused at the peak (largest free block " +
                    format_bytes(use.largest_free) + ")";
  if (!use.fits)
    out += "; the device runs out of memory";
  else if (use.retries > 0)
    out += "; the allocator empties its cache " + std::to_string(use.retries) +
           (use.retries == 1 ? " time" : " times") + " in two steps";
  return out + "\n";
}

}  // namespace

std::string memory_text(const MemoryTimeline& memory, StepOps* ops) {
  const StageMemory& worst = memory.stages[static_cast<size_t>(memory.peak_stage)];
  std::string out = std::string(memory.fits ? "fits: " : "does not fit: ") + format_bytes(worst.in_use) +
                    " of " + format_bytes(memory.capacity) + " in use on the worst rank, stage " +
                    std::to_string(worst.stage) + " (tensors " + format_bytes(worst.allocated) +
                    ", rounded up to whole segments " + format_bytes(worst.reserved) +
                    ", without free blocks inside the segments)\n";
  for (const StageMemory& s : memory.stages) {
    const auto seconds = ops ? peak_seconds(s, *ops) : std::nullopt;
    out += "memory peak of stage " + std::to_string(s.stage) + ": " + format_bytes(s.allocated) +
           (seconds ? " at " + format_seconds(*seconds) : "") + ", " + s.peak_text + "\n";
    for (size_t i = 0; i < s.contributors.size() && i < kContributorsShown; ++i)
      out += "  " + format_bytes(s.contributors[i].bytes) + "  " + s.contributors[i].name + "\n";
  }
  return out;
}

std::string fragmentation_text(const std::optional<Fragmentation>& fragmentation) {
  if (!fragmentation)
    return "PyTorch's allocator: not replayed, because two steps have more than " +
           grouped(int64_t{kMostReplayedEvents}) + " allocations and frees\n";
  return "PyTorch's allocator on stage " + std::to_string(fragmentation->stage) +
         ", replayed over two steps\n  " + use_text("native", fragmentation->native) + "  " +
         use_text("expandable", fragmentation->expandable);
}

std::optional<std::string> segments_warning(const MemoryTimeline& memory,
                                            const std::optional<Fragmentation>& fragmentation) {
  if (!fragmentation) return std::nullopt;
  const bool native = fragmentation->native.fits, expandable = fragmentation->expandable.fits;
  if (!memory.fits || (native && expandable)) return std::nullopt;
  if (!native && !expandable)
    return "the tensors fit, but not with fragmentation: PyTorch's allocator runs out of memory with native "
           "and with expandable segments";
  if (expandable)
    return "fits only with expandable segments (expandable_segments:True): with native segments, PyTorch's "
           "default, the allocator runs out of memory";
  return "fits only with native segments, PyTorch's default: with expandable segments, the allocator runs "
         "out of memory";
}

std::string advice_text(const std::vector<MemoryAdvice>& advice) {
  std::string out = advice.empty() ? "no known change saves memory\n" : "changes that save memory:\n";
  for (const MemoryAdvice& a : advice) {
    out += "  " + a.text() + " (";
    for (const auto& [knob, value] : a.settings)
      out += (&knob == &a.settings.front().first ? "" : ", ") + knob + " = " + value;
    out += a.fits ? "; fits)\n" : ")\n";
  }
  return out;
}

std::string estimate_json(const Report& report, const std::optional<std::vector<MemoryAdvice>>& advice,
                          const std::optional<Fragmentation>& fragmentation, StepOps* ops) {
  if (!report.memory) return report_json(report);
  const MemoryTimeline& memory = *report.memory;
  Json out = Json::parse(report_json(report));
  const StageMemory& worst = memory.stages[static_cast<size_t>(memory.peak_stage)];
  out["fits"] = memory.fits;
  out["memory_capacity"] = memory.capacity;
  out["peak"] = {{"stage", memory.peak_stage},
                 {"allocated", worst.allocated},
                 {"reserved", worst.reserved},
                 {"bytes", worst.in_use},
                 {"seconds", when(worst, ops)}};
  out["peak"]["segments"] = fragmentation ? Json{{"native", use_json(fragmentation->native)},
                                                 {"expandable", use_json(fragmentation->expandable)}}
                                          : Json();
  if (const auto warning = segments_warning(memory, fragmentation)) out["memory_warning"] = *warning;
  if (advice) {
    Json list = Json::array();
    for (const MemoryAdvice& a : *advice) {
      list.push_back(
          {{"what", a.what}, {"settings", Json::object()}, {"saved_bytes", a.saved}, {"fits", a.fits}});
      for (const auto& [knob, value] : a.settings) list.back()["settings"][knob] = value;
      if (a.time_percent) list.back()["time_percent"] = *a.time_percent;
    }
    out["advice"] = list;
  }
  for (const StageMemory& s : memory.stages)
    out["stages"][static_cast<size_t>(s.stage)]["peak"] = stage_json(s, ops);
  return json_document(out);
}

}  // namespace shardscape
