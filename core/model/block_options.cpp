#include "model/block_options.h"

#include <algorithm>
#include <optional>
#include <set>

#include "base/number_text.h"
#include "base/suggest.h"
#include "base/units.h"

namespace shardscape {
namespace {

bool has(const std::vector<std::string>& all, std::string_view name) {
  return std::find(all.begin(), all.end(), name) != all.end();
}

bool declares(const BlockOptions& known, std::string_view name) {
  return std::any_of(known.begin(), known.end(), [&](const auto& option) { return option.first == name; });
}

// Calls read(part) for every part between separators, without spaces around it.
template <class Read>
void each_part(std::string_view text, char separator, const Read& read) {
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    if (const std::string_view part = trimmed(text.substr(begin, end - begin)); !part.empty()) read(part);
    begin = end + 1;
  }
}

// Resolves the lines of one template.
class Chooser {
 public:
  Chooser(const BlockOptions& known, const std::vector<std::string>& chosen)
      : known_(known), chosen_(chosen) {}

  // The inputs whose conditions hold: "picked if shared_index".
  std::vector<BlockInput> inputs(const std::vector<BlockInput>& all) {
    std::vector<BlockInput> out;
    for (const BlockInput& input : all)
      if (const auto name = chosen_name(input.name)) out.push_back({*name, input.axes});
    for (const BlockInput& input : out) inputs_.insert(input.name);
    return out;
  }
  bool is_input(const std::string& of) const { return inputs_.contains(of); }

  std::vector<OpLine> lines(const std::vector<OpLine>& all) {
    std::set<std::string> made = inputs_;
    for (const OpLine& line : all)
      if (holds(line)) made.insert(line.output);
    std::vector<OpLine> out;
    for (const OpLine& line : all) {
      if (holds(line))
        out.push_back(resolved(line));
      else if (!made.count(line.output) && !line.args.empty())
        stands_for_.emplace(line.output, name(line.args.front()));
    }
    return out;
  }
  // "q if bias" is the label of q where the condition holds.
  std::map<std::string, std::string> labels(const std::map<std::string, std::string>& all) const {
    std::map<std::string, std::string> out;
    for (const auto& [key, label] : all)
      if (const auto name = chosen_name(key); name && *name != key)
        out[*name] = label;
      else if (name)
        out.emplace(key, label);
    return out;
  }
  // The tensor that the name means.
  std::string name(const std::string& of) const {
    const auto it = stands_for_.find(of);
    return it == stands_for_.end() ? of : it->second;
  }

 private:
  bool holds(const OpLine& line) const {
    return std::all_of(line.conditions.begin(), line.conditions.end(), [&](const LineCondition& condition) {
      return has(chosen_, condition.option) == condition.wanted;
    });
  }

  OpLine resolved(OpLine line) const {
    line.conditions.clear();
    for (std::string& arg : line.args) arg = name(arg);
    std::string options;
    for (const std::string& option : line.options)
      if (!declares(known_, option) || has(chosen_, option))
        options += (options.empty() ? "; " : ", ") + option;
    line.callee += options;
    line.options.clear();
    line.spec = words(line.spec);
    return line;
  }

  // "name if option" without its condition; nullopt if the condition does not hold.
  std::optional<std::string> chosen_name(std::string_view text) const {
    std::vector<std::string> parts;
    each_part(text, ' ', [&](std::string_view part) { parts.emplace_back(part); });
    for (size_t i = 1; i + 1 < parts.size(); i += 2)
      if (has(chosen_, parts[i + 1]) != (parts[i] == "if")) return std::nullopt;
    return parts.empty() ? "" : parts.front();
  }

  // The spec without the words whose condition does not hold.
  std::string words(const std::string& spec) const {
    const size_t semicolon = spec.find(';');
    if (semicolon == std::string::npos) return spec;
    std::string out;
    each_part(std::string_view(spec).substr(semicolon + 1), ',', [&](std::string_view text) {
      if (const auto word = chosen_name(text)) out += (out.empty() ? "; " : ", ") + *word;
    });
    return spec.substr(0, semicolon) + out;
  }

  const BlockOptions& known_;
  const std::vector<std::string>& chosen_;
  std::set<std::string> inputs_;
  std::map<std::string, std::string> stands_for_;
};

}  // namespace

OptionCall parse_option_call(std::string_view text) {
  const size_t semicolon = std::min(text.find(';'), text.size());
  OptionCall out{std::string(trimmed(text.substr(0, semicolon))), {}};
  if (semicolon < text.size())
    each_part(text.substr(semicolon + 1), ',',
              [&](std::string_view option) { out.options.emplace_back(option); });
  return out;
}

std::string option_call_text(const OptionCall& call, const BlockOptions& known) {
  std::string out = call.id;
  const char* separator = "; ";
  for (const auto& [option, help] : known)
    if (has(call.options, option)) {
      out += separator + option;
      separator = ", ";
    }
  return out;
}

std::optional<Problem> unknown_option(const OptionCall& call, const BlockOptions& known,
                                      const SourcePlace& place) {
  std::vector<std::string> names;
  for (const auto& [option, help] : known) names.push_back(option);
  for (const std::string& option : call.options)
    if (!declares(known, option))
      return Problem{ProblemCode::DataValue, place_text(place),
                     "\"" + call.id + "\" has no option \"" + option + "\"" + did_you_mean(option, names),
                     names.empty() ? "a call without options" : or_list(names)};
  return std::nullopt;
}

std::optional<Problem> unknown_input_option(const std::string& input, const BlockOptions& known,
                                            const SourcePlace& place) {
  OptionCall call{input, {}};
  int part = 0;
  each_part(input, ' ', [&](std::string_view text) {
    if (part++ % 2 == 0 && part > 1) call.options.emplace_back(text);
  });
  return unknown_option(call, known, place);
}

BlockTemplate with_options(const BlockTemplate& block, const std::vector<std::string>& chosen,
                           const std::string& id) {
  Chooser chooser(block.options, chosen);
  BlockTemplate out = block;
  out.id = id;
  out.inputs = chooser.inputs(block.inputs);
  out.ops = chooser.lines(block.ops);
  out.output = chooser.name(block.output);
  out.labels = chooser.labels(block.labels);
  for (std::string& cached : out.cached) cached = chooser.name(cached);
  // An input belongs to the caller, who may cache it.
  std::erase_if(out.cached, [&](const std::string& cached) { return chooser.is_input(cached); });
  if (block.options.empty()) return out;
  std::erase_if(out.cached, [&](const std::string& cached) {
    return std::none_of(out.ops.begin(), out.ops.end(),
                        [&](const OpLine& line) { return line.output == cached; });
  });
  std::erase_if(out.params, [&](const BlockParam& param) {
    return std::none_of(out.ops.begin(), out.ops.end(),
                        [&](const OpLine& line) { return has(line.args, param.name); });
  });
  return out;
}

TowerTemplate without_options(const TowerTemplate& tower) {
  TowerTemplate out = tower;
  for (SectionTemplate* section : {&out.patches, &out.layer, &out.norm, &out.projector})
    section->lines = Chooser({}, {}).lines(section->lines);
  return out;
}

Architecture with_options(const Architecture& architecture, const std::vector<std::string>& chosen,
                          const std::string& id) {
  Architecture out = architecture;
  out.id = id;
  const auto choose = [&](SectionTemplate& section) {
    section.lines = Chooser(architecture.options, chosen).lines(section.lines);
  };
  for (SectionTemplate* section : {&out.embedding, &out.head, &out.mtp}) choose(*section);
  for (SectionTemplate& kind : out.kinds) choose(kind);
  return out;
}

}  // namespace shardscape
