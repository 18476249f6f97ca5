#include "design/design_name.h"

#include <algorithm>
#include <cctype>

#include "base/units.h"
#include "design/cluster.h"
#include "design/limits.h"
#include "model/library.h"

namespace shardscape {
namespace {

bool is_accelerator(const std::string& word) {
  return std::any_of(accelerators().begin(), accelerators().end(),
                     [&](const Accelerator& item) { return short_accelerator_name(item.id) == word; });
}

}  // namespace

std::string short_accelerator_name(const std::string& accelerator) {
  const Accelerator* item = find_accelerator(accelerator);
  std::string name = item && !item->aliases.empty() ? item->aliases.front() : accelerator;
  for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

void correct_machine_name(Design& design) {
  constexpr std::string_view kOn = " on ";
  const size_t on = design.name.rfind(kOn);
  if (on == std::string::npos) return;
  const Preset* preset = ModelLibrary::instance().preset(design.model.preset);
  if (!preset || design.name.compare(0, on, preset->name) != 0) return;
  const std::string machine = design.name.substr(on + kOn.size());
  const size_t blank = machine.find(' ');
  if (blank == 0 || blank == std::string::npos || machine.find_first_not_of("0123456789,") != blank) return;
  const std::string word = machine.substr(blank + 1);
  const bool gpus = word == "GPU" || word == "GPUs";
  if (!gpus && !is_accelerator(word)) return;
  const int64_t ranks = world_at_most(design, kMaxWorld);
  const std::string unit = !gpus        ? short_accelerator_name(design.cluster.accelerator)
                           : ranks == 1 ? "GPU"
                                        : "GPUs";
  // The number may have no separators of thousands.
  if (word == unit && machine.substr(0, blank) == std::to_string(ranks)) return;
  design.name = preset->name + std::string(kOn) + grouped(ranks) + " " + unit;
}

}  // namespace shardscape
