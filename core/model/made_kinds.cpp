#include "model/made_kinds.h"

#include <algorithm>

#include "base/number_text.h"
#include "base/suggest.h"
#include "base/units.h"
#include "model/block_options.h"
#include "model/layer_parts.h"
#include "model/layer_pattern.h"
#include "model/library.h"
#include "model/resolve_options.h"

namespace shardscape {
namespace {

constexpr const char* kForm =
    "a string such as \"llama; linear = layer(mixer = gated_delta_net, feed_forward = moe + shared_mlp)\"";

Problem problem(const std::string& what, const std::string& accepted = kForm) {
  return {ProblemCode::DataValue, "architecture", what, accepted};
}

Problem at_column(size_t column, const std::string& what) {
  return problem("column " + std::to_string(column + 1) + ": " + what);
}

struct Piece {
  std::string_view text;
  size_t column;  // of the first character, from 0
};

Piece trimmed_piece(std::string_view text, size_t column) {
  const size_t space = text.find_first_not_of(' ');
  return {trimmed(text), column + (space == std::string_view::npos ? 0 : space)};
}

// Pieces between commas outside of parentheses.
std::vector<Piece> pieces(std::string_view text, size_t column) {
  std::vector<Piece> out;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '(') ++depth;
    if (i < text.size() && text[i] == ')') --depth;
    if (i < text.size() && (text[i] != ',' || depth > 0)) continue;
    out.push_back(trimmed_piece(text.substr(begin, i - begin), column + begin));
    begin = i + 1;
  }
  return out;
}

// "name = rest"; the name is empty without '='.
struct Setting {
  std::string name;
  Piece rest;
};
Setting setting_of(const Piece& piece) {
  const size_t equals = piece.text.find('=');
  if (equals == std::string_view::npos) return {"", piece};
  return {std::string(trimmed(piece.text.substr(0, equals))),
          trimmed_piece(piece.text.substr(equals + 1), piece.column + equals + 1)};
}

Result<MadeKind> read_kind(const Piece& piece) {
  const auto [name, made] = setting_of(piece);
  if (!is_layer_name(name))
    return at_column(piece.column, "\"" + name + "\" is not the name of a kind of layer");
  const size_t open = made.text.find('(');
  if (open == std::string_view::npos || made.text.back() != ')')
    return at_column(made.column, "\"" + std::string(made.text) + "\" does not define the parts of the kind");
  MadeKind out{name, std::string(trimmed(made.text.substr(0, open))), "", ""};
  const std::string_view inside = made.text.substr(open + 1, made.text.size() - open - 2);
  for (const Piece& part : pieces(inside, made.column + open + 1)) {
    if (part.text.empty()) continue;
    const auto [key, call] = setting_of(part);
    if (key != "mixer" && key != "feed_forward")
      return at_column(part.column, "\"" + key + "\" is neither mixer nor feed_forward");
    (key == "mixer" ? out.mixer : out.feed_forward) = std::string(call.text);
  }
  return out;
}

// The lines that stand in for a part of a layer.
std::vector<OpLine> part_lines(const Sublayer& part, const std::string& call, const SourcePlace& place) {
  std::vector<OpLine> out;
  const std::vector<std::string> calls = summands(call);
  const auto add = [&](const std::string& output, const std::string& callee, std::vector<std::string> args) {
    OpLine& line = out.emplace_back();
    line.output = output;
    line.callee = callee;
    line.args = std::move(args);
    line.place = place;
  };
  const auto name = [&](size_t i) {
    return i + 1 == calls.size() && calls.size() == 1 ? part.output
                                                      : part.output + "_" + std::to_string(i + 1);
  };
  for (size_t i = 0; i < calls.size(); ++i) add(name(i), block_call(calls[i]), {part.input});
  std::string sum = name(0);
  for (size_t i = 1; i < calls.size(); ++i) {
    const std::string next = i + 1 == calls.size() ? part.output
                                                   : part.output + "_sum_" + std::to_string(i + 1);
    add(next, "residual", {sum, name(i)});
    sum = next;
  }
  return out;
}

void put_part(std::vector<OpLine>& lines, const Sublayer& part, std::vector<OpLine> with) {
  const auto first = static_cast<std::ptrdiff_t>(part.lines.front());
  for (auto at = part.lines.rbegin(); at != part.lines.rend(); ++at)
    lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(*at));
  lines.insert(lines.begin() + first, with.begin(), with.end());
}

// Checks that the calls name blocks with this use.
std::optional<Problem> call_problem(const std::string& call, BlockUse use, const ModelLibrary& library) {
  const char* const what = use == BlockUse::Mixer ? "mixer" : "feed-forward block";
  for (const std::string& summand : summands(call)) {
    const std::string id = parse_option_call(block_call(summand)).id;
    const BlockTemplate* block = library.block(id);
    if (block && use_of(*block) == use) continue;
    std::vector<std::string> known;
    for (const BlockTemplate& other : library.blocks())
      if (use_of(other) == use && other.id.find(';') == std::string::npos) known.push_back(other.id);
    return problem("\"" + id + "\" is not a " + what + did_you_mean(id, known), "one of " + or_list(known));
  }
  return std::nullopt;
}

// Adds the kind to the architecture, or replaces the kind of the same name.
std::optional<Problem> make_kind(Architecture& architecture, const MadeKind& made,
                                 const std::vector<SectionTemplate>& stated, const ModelLibrary& library) {
  const auto from = std::find_if(stated.begin(), stated.end(),
                                 [&](const SectionTemplate& kind) { return kind.name == made.from; });
  if (from == stated.end()) {
    std::vector<std::string> known;
    for (const SectionTemplate& kind : stated) known.push_back(kind.name);
    return problem(
        "the architecture has no kind of layer \"" + made.from + "\"" + did_you_mean(made.from, known),
        "one of " + or_list(known));
  }
  SectionTemplate kind{made.name, from->lines};
  const auto put = [&](const std::string& call, Sublayer Sublayers::*which,
                       BlockUse use) -> std::optional<Problem> {
    if (call.empty()) return std::nullopt;
    if (auto wrong = call_problem(call, use, library)) return wrong;
    const Sublayer part = parts_of(kind, library).*which;
    if (part.lines.empty())
      return problem("the kind of layer \"" + made.from + "\" does not have exactly one " +
                         (use == BlockUse::Mixer ? "mixer" : "feed-forward part") + " to replace",
                     "a kind of layer with exactly one, or a copy of the architecture with other lines");
    put_part(kind.lines, part, part_lines(part, call, architecture.place));
    return std::nullopt;
  };
  if (auto wrong = put(made.mixer, &Sublayers::mixer, BlockUse::Mixer)) return wrong;
  if (auto wrong = put(made.feed_forward, &Sublayers::feed_forward, BlockUse::FeedForward)) return wrong;
  const auto same = std::find_if(architecture.kinds.begin(), architecture.kinds.end(),
                                 [&](const SectionTemplate& other) { return other.name == made.name; });
  if (same == architecture.kinds.end())
    architecture.kinds.push_back(std::move(kind));
  else
    *same = std::move(kind);
  return std::nullopt;
}

}  // namespace

bool has_made_kinds(std::string_view text) {
  const size_t semicolon = text.find(';');
  return semicolon != std::string_view::npos && text.find('=', semicolon) != std::string_view::npos;
}

Result<ArchitectureCall> parse_architecture_call(std::string_view text) {
  const size_t semicolon = std::min(text.find(';'), text.size());
  OptionCall base{std::string(trimmed(text.substr(0, semicolon))), {}};
  ArchitectureCall out;
  if (semicolon < text.size())
    for (const Piece& piece : pieces(text.substr(semicolon + 1), semicolon + 1)) {
      if (piece.text.empty()) continue;
      if (piece.text.find('=') == std::string_view::npos) {
        base.options.emplace_back(piece.text);
        continue;
      }
      auto kind = read_kind(piece);
      if (auto* wrong = std::get_if<Problem>(&kind)) return *wrong;
      out.kinds.push_back(std::get<0>(std::move(kind)));
    }
  out.id = base.id;
  for (size_t i = 0; i < base.options.size(); ++i) out.id += (i == 0 ? "; " : ", ") + base.options[i];
  return out;
}

std::string architecture_call_text(const ArchitectureCall& call) {
  std::string out = call.id;
  bool first = call.id.find(';') == std::string::npos;
  for (const MadeKind& kind : call.kinds) {
    std::string parts = kind.mixer.empty() ? "" : "mixer = " + kind.mixer;
    if (!kind.feed_forward.empty())
      parts += (parts.empty() ? "" : ", ") + std::string("feed_forward = ") + kind.feed_forward;
    out += (first ? "; " : ", ") + kind.name + " = " + kind.from + "(" + parts + ")";
    first = false;
  }
  return out;
}

Result<std::pair<Architecture, std::vector<BlockTemplate>>> with_made_kinds(const std::string& text,
                                                                            const ModelLibrary& library,
                                                                            const Templates& stated) {
  auto call = parse_architecture_call(text);
  if (auto* wrong = std::get_if<Problem>(&call)) return *wrong;
  const auto& [id, kinds] = std::get<0>(call);
  const Architecture* base = library.architecture(id);
  if (!base) return problem("there is no architecture \"" + id + "\"", "the id of a file under models/");
  Architecture out = *base;
  out.id = text;
  for (const MadeKind& kind : kinds)
    if (auto wrong = make_kind(out, kind, base->kinds, library)) return *wrong;
  std::vector<OpLine*> lines;
  for (SectionTemplate& kind : out.kinds)
    for (OpLine& line : kind.lines) lines.push_back(&line);
  std::vector<Problem> problems;
  auto blocks = resolve_calls(stated, lines, problems);
  if (!problems.empty()) return problem(problems.front().what, problems.front().accepted);
  return std::pair{std::move(out), std::move(blocks)};
}

}  // namespace shardscape
