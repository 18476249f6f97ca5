// The architecture and the sizes of the model among themselves.
#include <algorithm>

#include "base/units.h"
#include "design/checks.h"
#include "design/number_text.h"
#include "model/library.h"

namespace shardscape {
namespace {

// Whether a line fits, or one of the block that it calls. block: what the line calls, nullptr for an op.
using LineTest = bool (*)(const OpLine& line, const BlockTemplate* block);

bool has_line(const ModelLibrary& library, const std::vector<OpLine>& lines, LineTest fits, int depth = 0) {
  if (depth > 8) return false;  // a block that calls itself is the library's problem
  return std::any_of(lines.begin(), lines.end(), [&](const OpLine& line) {
    const BlockTemplate* block = library.block(line.callee);
    return fits(line, block) || (block && has_line(library, block->ops, fits, depth + 1));
  });
}

bool has_line(const ModelLibrary& library, const Architecture& architecture, LineTest fits) {
  if (has_line(library, architecture.embedding.lines, fits) || has_line(library, architecture.head.lines, fits)) return true;
  return std::any_of(architecture.kinds.begin(), architecture.kinds.end(),
                     [&](const SectionTemplate& kind) { return has_line(library, kind.lines, fits); });
}

bool has_position_table(const OpLine&, const BlockTemplate* block) {
  return block && std::any_of(block->params.begin(), block->params.end(), [](const BlockParam& param) {
           return std::find(param.axes.begin(), param.axes.end(), Axis::Positions) != param.axes.end();
         });
}

bool slides(const OpLine& line, const BlockTemplate* block) {
  return !block && line.callee == "attention" && line.spec.find("window") != std::string::npos;
}

const Architecture* check_architecture(Checks& checks) {
  const ModelLibrary& library = ModelLibrary::instance();
  const Architecture* architecture = library.architecture(checks.design.model.architecture);
  if (architecture) return architecture;
  std::vector<std::string> known;
  for (const Preset& preset : library.presets()) {
    const std::string& id = preset.model.architecture;
    if (library.architecture(id) && std::find(known.begin(), known.end(), id) == known.end()) known.push_back(id);
  }
  checks.error("architecture", "there is no architecture \"" + checks.design.model.architecture + "\" in the model library",
               known.empty() ? "none: no architecture could be read from the data folder" : "one of " + or_list(known));
  return nullptr;
}

void check_positions(Checks& checks, const Architecture& architecture) {
  if (!checks.sound({"positions", "seq"})) return;
  const Design& d = checks.design;
  const int64_t positions = d.model.positions, seq = d.workload.seq;
  if (!has_line(ModelLibrary::instance(), architecture, has_position_table)) {
    if (positions > 0) {
      checks.note("positions", "the " + architecture.id + " architecture has no table of learned positions; the value has no effect",
                  "0", {set_to("positions", 0)});
    }
    return;
  }
  if (positions >= seq) return;
  std::vector<Fix> fixes;
  // The longest sequence that fits and, under sequence parallelism, still splits over tp.
  const int64_t step = d.parallel.sequence_parallel && checks.sound({"tp"}) ? d.parallel.tp : 1;
  offer(fixes, "seq", positions / step * step);
  offer(fixes, "positions", seq);
  checks.error("seq", "a sequence of " + grouped(seq) + " tokens is longer than the table of " + grouped(positions) + " learned positions",
               positions > 0 ? "at most " + grouped(positions) : "positions of at least " + grouped(seq), std::move(fixes));
}

void check_window(Checks& checks, const Architecture& architecture) {
  if (checks.design.model.window == 0 || !checks.sound({"window"})) return;
  if (has_window_layers(architecture.id)) return;
  checks.note("window", "no layer of the " + architecture.id + " architecture slides over a window; the value has no effect", "0",
              {set_to("window", 0)});
}

}  // namespace

bool has_window_layers(const std::string& architecture) {
  const Architecture* found = ModelLibrary::instance().architecture(architecture);
  return found && has_line(ModelLibrary::instance(), *found, slides);
}

void check_model(Checks& checks) {
  if (const Architecture* architecture = check_architecture(checks)) {
    check_positions(checks, *architecture);
    check_window(checks, *architecture);
  }
  if (!checks.sound({"heads", "kv_heads"})) return;
  const ModelSpec& model = checks.design.model;
  if (model.heads % model.kv_heads == 0) return;
  const std::vector<int64_t> accepted = divisors(model.heads);
  const auto above = std::upper_bound(accepted.begin(), accepted.end(), model.kv_heads);
  std::vector<Fix> fixes;
  if (above != accepted.begin()) offer(fixes, "kv_heads", *std::prev(above));
  if (above != accepted.end()) offer(fixes, "kv_heads", *above);
  checks.error("kv_heads", grouped(model.heads) + " query heads cannot share " + grouped(model.kv_heads) + " KV heads evenly",
               "a divisor of " + grouped(model.heads) + ": " + or_list(accepted), std::move(fixes));
}

}  // namespace shardscape
