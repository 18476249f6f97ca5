#include "design/knobs/layout_text.h"

#include "base/units.h"
#include "design/knobs/knobs.h"

namespace shardscape {

std::vector<std::string> layout_texts(const Design& design) {
  std::vector<std::string> texts;
  for (const char* id : {"tp", "cp", "pp", "dp", "ep", "microbatch"}) {
    const Knob& knob = *find_knob(id);
    const int64_t value = knob_number(knob)(design);
    if (value != 1) texts.push_back((knob.symbol.empty() ? knob.label : knob.symbol) + " " + grouped(value));
  }
  return texts;
}

}  // namespace shardscape
