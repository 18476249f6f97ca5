// Checks the architecture, and the sizes of the model against each other.
#include <algorithm>

#include "base/number_text.h"
#include "base/suggest.h"
#include "base/units.h"
#include "design/validate/checks.h"
#include "model/library.h"
#include "model/model_limits.h"

namespace shardscape {
namespace {

// A predicate on a line of a section or of the blocks that it calls. block: the called block, nullptr for an
// op.
using LineTest = bool (*)(const OpLine& line, const BlockTemplate* block);

bool has_line(const ModelLibrary& library, const std::vector<OpLine>& lines, LineTest fits, int depth = 0) {
  if (depth > 8) return false;  // the library reports a block that calls itself
  return std::any_of(lines.begin(), lines.end(), [&](const OpLine& line) {
    const BlockTemplate* block = library.block(line.callee);
    return fits(line, block) || (block && has_line(library, block->ops, fits, depth + 1));
  });
}

bool has_line(const ModelLibrary& library, const Architecture& architecture, LineTest fits) {
  for (const SectionTemplate* section : {&architecture.embedding, &architecture.head, &architecture.mtp})
    if (has_line(library, section->lines, fits)) return true;
  return std::any_of(architecture.kinds.begin(), architecture.kinds.end(),
                     [&](const SectionTemplate& kind) { return has_line(library, kind.lines, fits); });
}

bool slides(const OpLine& line, const BlockTemplate* block) {
  return !block && line.callee == "attention" && line.spec.find("window") != std::string::npos;
}

bool sinks(const OpLine& line, const BlockTemplate* block) {
  // The last operand of an attention with sinks has one letter, for the heads.
  const size_t arrow = line.spec.find("->");
  return !block && line.callee == "attention" && arrow != std::string::npos && arrow > 1 &&
         line.spec[arrow - 2] == ',';
}

bool picks(const OpLine& line, const BlockTemplate* block) {
  return !block && line.callee == "index_top_k" && line.spec.find("block") != std::string::npos;
}

const Architecture* check_architecture(Checks& checks) {
  const ModelLibrary& library = ModelLibrary::instance();
  const Architecture* architecture = library.architecture(checks.design.model.architecture);
  if (architecture) return architecture;
  const std::string& id = checks.design.model.architecture;
  if (const auto problem = library.architecture_problem(id)) {
    checks.error(ProblemCode::UnknownArchitecture, "architecture", problem->what, problem->accepted);
    return nullptr;
  }
  std::vector<std::string> known;
  for (const Preset& preset : library.presets()) {
    const std::string& other = preset.model.architecture;
    if (library.architecture(other) && std::find(known.begin(), known.end(), other) == known.end())
      known.push_back(other);
  }
  checks.error(ProblemCode::UnknownArchitecture, "architecture",
               "there is no architecture \"" + id + "\" in the model library" + did_you_mean(id, known),
               known.empty() ? "none: no architecture could be read from the data folder"
                             : "one of " + or_list(known));
  return nullptr;
}

void check_positions(Checks& checks, const Architecture& architecture) {
  if (!checks.in_range({"positions", "seq"})) return;
  const Design& d = checks.design;
  const int64_t positions = d.model.positions,
                cached = d.workload.mode == Mode::Prefill ? d.workload.cached_tokens : 0,
                seq = d.workload.seq + cached;
  if (!architecture.uses(Axis::Positions) || positions >= seq || d.workload.mode == Mode::Decode)
    return;  // check_inference.cpp checks decode
  std::vector<Fix> fixes;
  // The longest sequence that fits and still splits over tp under sequence parallelism.
  const int64_t step = splits_tokens_over_tp(d) && checks.in_range({"tp"}) ? d.parallel.tp : 1;
  offer(fixes, "seq", std::max<int64_t>(0, positions - cached) / step * step);
  if (seq <= kMaxSeq) offer(fixes, "positions", seq);
  checks.error(ProblemCode::SeqLongerThanPositions, "seq",
               "a sequence of " + grouped(seq) + " tokens is longer than the table of " + grouped(positions) +
                   " learned positions",
               positions > 0 ? "at most " + grouped(positions) : "positions of at least " + grouped(seq),
               std::move(fixes));
}

// Sizes that latent attention, partial rotations and value heads of another size require.
void check_head_sizes(Checks& checks, const Architecture& architecture) {
  struct Size {
    const char* knob;
    int64_t ModelSpec::*field;
    Axis axis;
    int64_t usual;  // value in DeepSeek-V2 and V3
  };
  static constexpr Size kSizes[] = {{"kv_rank", &ModelSpec::kv_rank, Axis::KvRank, 512},
                                    {"nope_head_dim", &ModelSpec::nope_head_dim, Axis::NopeDim, 128},
                                    {"rope_head_dim", &ModelSpec::rope_head_dim, Axis::RopeDim, 64},
                                    {"value_head_dim", &ModelSpec::value_head_dim, Axis::ValueDim, 128}};
  const ModelSpec& m = checks.design.model;
  const bool latent = architecture.uses(Axis::KvRank);
  for (const Size& size : kSizes) {
    if (!checks.in_range({size.knob})) continue;
    if (m.*size.field == 0 && architecture.uses(size.axis))
      checks.error(ProblemCode::LatentSizeMissing, size.knob,
                   std::string(latent ? "the latent attention of the " : "the attention of the ") +
                       architecture.id + " architecture needs this size",
                   "at least 1", {set_to(size.knob, latent ? size.usual : std::min(size.usual, m.head_dim))});
  }
  // Without other attention, the rotated heads are those of lightning attention.
  const int64_t rotated = architecture.uses(Axis::HeadDim) ? m.head_dim : m.linear_key_dim;
  if (architecture.uses(Axis::RopeDim) && !latent &&
      checks.in_range({"rope_head_dim", "head_dim", "linear_key_dim"}) && m.rope_head_dim > rotated)
    checks.error(
        ProblemCode::RopeHeadDimTooLarge, "rope_head_dim",
        "a head of " + grouped(rotated) + " numbers has no rotary part of " + grouped(m.rope_head_dim),
        "at most " + grouped(rotated), {set_to("rope_head_dim", rotated)});
  if (architecture.uses(Axis::RopeDim) && checks.in_range({"rope_head_dim"}) && m.rope_head_dim % 2 != 0)
    checks.error(ProblemCode::OddRopeHeadDim, "rope_head_dim",
                 "rotary embedding rotates pairs of numbers, but " + grouped(m.rope_head_dim) + " is odd",
                 "an even number", {set_to("rope_head_dim", m.rope_head_dim + 1)});
  if (!latent) return;
  if (checks.in_range({"heads", "kv_heads"}) && m.kv_heads != m.heads)
    checks.error(ProblemCode::LatentKvHeadsDiffer, "kv_heads",
                 "latent attention projects keys and values for all " + grouped(m.heads) + " heads",
                 grouped(m.heads), {set_to("kv_heads", m.heads)});
}

}  // namespace

bool has_sinks(const std::string& architecture) {
  const Architecture* found = ModelLibrary::instance().architecture(architecture);
  return found && has_line(ModelLibrary::instance(), *found, sinks);
}

bool picks_blocks(const std::string& architecture) {
  const Architecture* found = ModelLibrary::instance().architecture(architecture);
  return found && has_line(ModelLibrary::instance(), *found, picks);
}

bool has_window(const SectionTemplate& kind) {
  return has_line(ModelLibrary::instance(), kind.lines, slides);
}

bool has_window_layers(const std::string& architecture) {
  const Architecture* found = ModelLibrary::instance().architecture(architecture);
  return found && has_line(ModelLibrary::instance(), *found, slides);
}

void check_model(Checks& checks) {
  if (const Architecture* architecture = check_architecture(checks)) {
    check_positions(checks, *architecture);
    check_head_sizes(checks, *architecture);
  }
  if (!uses_axis(checks.design, Axis::KvHeads) || !checks.in_range({"heads", "kv_heads"})) return;
  const ModelSpec& model = checks.design.model;
  const bool mismatch_reported = std::any_of(
      checks.problems.begin(), checks.problems.end(),
      [](const Problem& p) { return p.code == ProblemCode::LatentKvHeadsDiffer; });
  if (model.heads % model.kv_heads == 0 || mismatch_reported) return;
  const std::vector<int64_t> accepted = divisors(model.heads);
  const auto above = std::upper_bound(accepted.begin(), accepted.end(), model.kv_heads);
  std::vector<Fix> fixes;
  if (above != accepted.begin()) offer(fixes, "kv_heads", *std::prev(above));
  if (above != accepted.end()) offer(fixes, "kv_heads", *above);
  checks.error(
      ProblemCode::KvHeadsIndivisible, "kv_heads",
      grouped(model.heads) + " query heads cannot share " + grouped(model.kv_heads) + " KV heads evenly",
      "a divisor of " + grouped(model.heads) + ": " + or_list(accepted), std::move(fixes));
}

}  // namespace shardscape
