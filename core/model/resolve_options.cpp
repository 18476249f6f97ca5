#include "model/resolve_options.h"

#include <algorithm>

#include "base/suggest.h"
#include "model/block_options.h"

namespace shardscape {
namespace {

template <class T>
const T* find(const std::vector<T>& all, const std::string& id) {
  const auto it = std::find_if(all.begin(), all.end(), [&](const T& item) { return item.id == id; });
  return it == all.end() ? nullptr : &*it;
}

class Resolver {
 public:
  Resolver(const Templates& stated, std::vector<Problem>& problems) : stated_(stated), problems_(problems) {}

  Templates run() {
    for (const BlockTemplate& block : stated_.blocks)
      if (block.is.empty())
        add(block, {}, block.id);
      else
        add_call(block);
    for (const TowerTemplate& tower : stated_.towers) add_tower(tower);
    for (const Architecture& architecture : stated_.architectures) add_choices(architecture);
    resolve_inner_calls();
    return std::move(out_);
  }

  std::vector<BlockTemplate> run(const std::vector<OpLine*>& lines) {
    for (OpLine* line : lines) call(*line);
    resolve_inner_calls();
    return std::move(out_.blocks);
  }

 private:
  // Calls inside of blocks add blocks behind the others.
  void resolve_inner_calls() {
    for (size_t i = 0; i < out_.blocks.size(); ++i) {
      BlockTemplate block = out_.blocks[i];
      for (OpLine& line : block.ops) call(line);
      out_.blocks[i] = std::move(block);
    }
  }

  bool accepts(const OptionCall& call, const BlockOptions& known, const SourcePlace& place) {
    const auto problem = unknown_option(call, known, place);
    if (problem) problems_.push_back(*problem);
    return !problem;
  }

  void add(const BlockTemplate& block, const std::vector<std::string>& options, const std::string& id) {
    BlockTemplate made = with_options(block, options, id);
    if (!made.decode.empty()) made.decode = stand_in(made.decode, options);
    for (auto& [axis, other] : made.without) other = stand_in(other, options);
    out_.blocks.push_back(std::move(made));
  }

  // The call of the block that stands in for one with these options: it takes those that it knows.
  std::string stand_in(const std::string& id, const std::vector<std::string>& options) {
    const BlockTemplate* other = find(stated_.blocks, id);
    return other ? called({id, options}, *other) : id;
  }

  // The id of the block with the options that it knows. Adds the block if it is new.
  std::string called(const OptionCall& call, const BlockTemplate& block) {
    const std::string id = option_call_text(call, block.options);
    if (id != block.id && !find(out_.blocks, id)) add(block, call.options, id);
    return id;
  }

  // A block that is a call of another one.
  void add_call(const BlockTemplate& block) {
    const OptionCall call = parse_option_call(block.is);
    const BlockTemplate* base = find(stated_.blocks, call.id);
    if (!base || !base->is.empty()) {
      problems_.push_back({ProblemCode::DataValue, place_text(block.place),
                           "\"is\" names \"" + call.id + "\", which is not a block with lines",
                           "the id of a block that has \"ops\", with options: \"self_attention; rope\""});
      return;
    }
    if (!accepts(call, base->options, block.place)) return;
    add(*base, call.options, block.id);
    BlockTemplate& made = out_.blocks.back();
    made.label = block.label;
    made.title = block.title;
    made.help = block.help;
    made.place = block.place;
    made.options.clear();  // chosen already
  }

  // Points the line at the block with its options.
  bool call(OpLine& line) {
    const OptionCall call = parse_option_call(line.callee);
    if (call.options.empty()) return true;
    const BlockTemplate* base = find(stated_.blocks, call.id);
    if (!base) {
      std::vector<std::string> known;
      for (const BlockTemplate& block : stated_.blocks) known.push_back(block.id);
      problems_.push_back({ProblemCode::UnknownOp, place_text(line.callee_place()),
                           "there is no block \"" + call.id + "\"" + did_you_mean(call.id, known),
                           "the id of a file under models/blocks/"});
      return false;
    }
    if (!accepts(call, base->options, line.callee_place())) return false;
    line.callee = called(call, *base);
    return true;
  }

  void add_tower(const TowerTemplate& stated) {
    TowerTemplate tower = without_options(stated);
    for (SectionTemplate* section : {&tower.patches, &tower.layer, &tower.norm, &tower.projector})
      if (!call_all(*section)) return;
    out_.towers.push_back(std::move(tower));
  }

  // The architecture with every choice of its options.
  void add_choices(const Architecture& architecture) {
    for (unsigned choice = 0; choice < 1u << architecture.options.size(); ++choice) {
      OptionCall chosen{architecture.id, {}};
      for (size_t i = 0; i < architecture.options.size(); ++i)
        if (choice >> i & 1) chosen.options.push_back(architecture.options[i].first);
      Architecture made = with_options(architecture, chosen.options,
                                       option_call_text(chosen, architecture.options));
      if (!call_all(made)) return;
      out_.architectures.push_back(std::move(made));
    }
  }

  bool call_all(Architecture& architecture) {
    std::vector<SectionTemplate*> sections{&architecture.embedding, &architecture.head, &architecture.mtp};
    for (SectionTemplate& kind : architecture.kinds) sections.push_back(&kind);
    bool good = true;  // every line is read, so that every mistake is found
    for (SectionTemplate* section : sections) good = call_all(*section) && good;
    return good;
  }
  bool call_all(SectionTemplate& section) {
    bool good = true;
    for (OpLine& line : section.lines) good = call(line) && good;
    return good;
  }

  const Templates& stated_;
  std::vector<Problem>& problems_;
  Templates out_;
};

}  // namespace

Templates resolve_options(const Templates& stated, std::vector<Problem>& problems) {
  return Resolver(stated, problems).run();
}

std::vector<BlockTemplate> resolve_calls(const Templates& stated, const std::vector<OpLine*>& lines,
                                         std::vector<Problem>& problems) {
  return Resolver(stated, problems).run(lines);
}

}  // namespace shardscape
