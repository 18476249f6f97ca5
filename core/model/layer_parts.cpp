#include "model/layer_parts.h"

#include <algorithm>
#include <set>

#include "model/block_options.h"
#include "model/library.h"

namespace shardscape {
namespace {

const std::vector<Axis>& token_axes() {
  static const std::vector<Axis> axes{Axis::Batch, Axis::Seq, Axis::Hidden};
  return axes;
}

bool has_any(const std::vector<Axis>& axes, std::initializer_list<Axis> wanted) {
  return std::any_of(axes.begin(), axes.end(), [&](Axis axis) {
    return std::find(wanted.begin(), wanted.end(), axis) != wanted.end();
  });
}

// A block that only adds tensors: it has several inputs and no parameters.
bool adds(const BlockTemplate& block) { return block.inputs.size() > 1 && block.params.empty(); }

class PartFinder {
 public:
  PartFinder(const SectionTemplate& kind, const ModelLibrary& library) : kind_(kind), library_(library) {}

  Sublayer find(BlockUse use) const {
    Sublayer out;
    std::set<std::string> made;
    for (size_t i = 0; i < kind_.lines.size(); ++i) {
      const OpLine& line = kind_.lines[i];
      const BlockTemplate* block = library_.block(line.callee);
      if (!block) continue;
      const bool call = use_of(*block) == use;
      const bool sum = adds(*block) &&
                       std::all_of(line.args.begin(), line.args.end(),
                                   [&](const std::string& arg) { return made.count(arg) > 0; });
      if (!call && !sum) continue;
      out.lines.push_back(i);
      made.insert(line.output);
      if (!call) continue;
      if (line.args.empty()) return {};
      if (out.input.empty()) out.input = line.args.front();
      if (line.args.front() != out.input) return {};
      out.call += (out.call.empty() ? "" : " + ") + call_text(line.callee);
    }
    return has_one_result(out, made) ? out : Sublayer{};
  }

 private:
  // Sets the result that lines outside of the part read.
  bool has_one_result(Sublayer& part, const std::set<std::string>& made) const {
    for (size_t i = 0; i < kind_.lines.size(); ++i) {
      if (std::find(part.lines.begin(), part.lines.end(), i) != part.lines.end()) continue;
      for (const std::string& arg : kind_.lines[i].args) {
        if (made.count(arg) == 0) continue;
        if (!part.output.empty() && part.output != arg) return false;
        part.output = arg;
      }
    }
    return !part.output.empty();
  }

  const SectionTemplate& kind_;
  const ModelLibrary& library_;
};

PartChoice choice(const std::string& call, const ModelLibrary& library) {
  PartChoice out{call, "", ""};
  for (const std::string& summand : summands(call)) {
    const OptionCall parsed = parse_option_call(block_call(summand));
    const BlockTemplate* block = library.block(parsed.id);
    std::string label = block ? block->title : parsed.id;
    std::string options;
    for (const std::string& option : parsed.options) options += (options.empty() ? "" : ", ") + option;
    if (!options.empty()) label += " (" + options + ")";
    out.label += (out.label.empty() ? "" : " + ") + label;
    if (block && !block->help.empty()) out.help += (out.help.empty() ? "" : "\n") + block->help;
  }
  return out;
}

// Blocks that only towers call, and blocks that only stand in for others in decode.
std::set<std::string> hidden_blocks(const ModelLibrary& library) {
  std::set<std::string> out;
  for (const TowerTemplate& tower : library.towers())
    for (const OpLine& line : tower.layer.lines) out.insert(parse_option_call(line.callee).id);
  for (const BlockTemplate& block : library.blocks())
    if (!block.decode.empty()) out.insert(parse_option_call(block.decode).id);
  return out;
}

// Choices with equal labels also show their call.
void tell_apart(std::vector<PartChoice>& sorted) {
  for (size_t begin = 0; begin < sorted.size();) {
    size_t end = begin + 1;
    while (end < sorted.size() && sorted[end].label == sorted[begin].label) ++end;
    if (end - begin > 1)
      for (size_t i = begin; i < end; ++i) sorted[i].label += ": " + sorted[i].call;
    begin = end;
  }
}

}  // namespace

BlockUse use_of(const BlockTemplate& block) {
  if (block.inputs.size() != 1 || block.inputs[0].axes != token_axes()) return BlockUse::Other;
  bool mixes = false;
  for (const BlockParam& param : block.params) {
    if (has_any(param.axes,
                {Axis::Vocab, Axis::Positions, Axis::PatchInputs, Axis::Merged, Axis::VisionHidden}))
      return BlockUse::Other;
    if (has_any(param.axes, {Axis::Ffn, Axis::ExpertFfn, Axis::SharedFfn})) return BlockUse::FeedForward;
    mixes = mixes || (param.axes.size() > 1 && has_any(param.axes, {Axis::Hidden}));
  }
  return mixes ? BlockUse::Mixer : BlockUse::Other;
}

Sublayers parts_of(const SectionTemplate& kind, const ModelLibrary& library) {
  const PartFinder finder(kind, library);
  return {finder.find(BlockUse::Mixer), finder.find(BlockUse::FeedForward)};
}

std::vector<PartChoice> part_choices(BlockUse use, const ModelLibrary& library) {
  std::set<std::string> calls, called;
  for (const Architecture& architecture : library.architectures())
    for (const SectionTemplate& kind : architecture.kinds) {
      const Sublayers parts = parts_of(kind, library);
      const std::string& call = (use == BlockUse::Mixer ? parts.mixer : parts.feed_forward).call;
      if (call.empty()) continue;
      calls.insert(call);
      for (const std::string& summand : summands(call))
        called.insert(parse_option_call(block_call(summand)).id);
    }
  const std::set<std::string> hidden = hidden_blocks(library);
  for (const BlockTemplate& block : library.blocks())
    if (block.id.find(';') == std::string::npos && use_of(block) == use && !called.count(block.id) &&
        !hidden.count(block.id))
      calls.insert(block.id);
  std::vector<PartChoice> out;
  out.reserve(calls.size());
  for (const std::string& call : calls) out.push_back(choice(call, library));
  std::stable_sort(out.begin(), out.end(),
                   [](const PartChoice& a, const PartChoice& b) { return a.label < b.label; });
  tell_apart(out);
  return out;
}

std::vector<std::string> summands(const std::string& call) {
  std::vector<std::string> out;
  for (size_t begin = 0; begin <= call.size();) {
    const size_t end = std::min(call.find(" + ", begin), call.size());
    out.push_back(call.substr(begin, end - begin));
    begin = end + 3;
  }
  return out;
}

std::string block_call(const std::string& call) {
  const size_t open = call.find('(');
  if (open == std::string::npos) return call;
  return call.substr(0, open) + "; " + call.substr(open + 1, call.find(')', open) - open - 1);
}

std::string call_text(const std::string& callee) {
  const OptionCall call = parse_option_call(callee);
  std::string options;
  for (const std::string& option : call.options) options += (options.empty() ? "" : ", ") + option;
  return options.empty() ? call.id : call.id + "(" + options + ")";
}

}  // namespace shardscape
