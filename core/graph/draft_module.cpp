#include "graph/draft_module.h"

#include <algorithm>
#include <set>
#include <string>

#include "model/library.h"

namespace shardscape {
namespace {

std::vector<OpLine> without_losses(const std::vector<OpLine>& lines, const ModelLibrary& library) {
  const auto loss = std::find_if(lines.begin(), lines.end(),
                                 [&](const OpLine& line) { return reads_targets(line, library); });
  return {lines.begin(), loss};
}

void rename(std::vector<std::string>& args, const std::string& from, const std::string& to) {
  std::replace(args.begin(), args.end(), from, to);
}

}  // namespace

bool reads_targets(const OpLine& line, const ModelLibrary& library) {
  const BlockTemplate* block = library.block(line.callee);
  const auto reads = [](const OpLine& of) {
    return std::find(of.args.begin(), of.args.end(), "targets") != of.args.end();
  };
  return reads(line) || (block && std::any_of(block->ops.begin(), block->ops.end(), reads));
}

DraftModule draft_module_of(const Architecture& architecture, const ModelLibrary& library) {
  const std::vector<OpLine> head = without_losses(architecture.head.lines, library),
                            all = without_losses(architecture.mtp.lines, library);
  const auto layer_end = all.end() - static_cast<std::ptrdiff_t>(std::min(head.size(), all.size()));
  DraftModule out{{"draft_module", {all.begin(), layer_end}}, {"head", {layer_end, all.end()}}};
  std::vector<OpLine>& lines = out.layer.lines;
  // The segment of the embedding has looked up the tokens.
  const std::vector<OpLine>& embedding = architecture.embedding.lines;
  std::string embedded;
  if (embedding.size() == 1 && !lines.empty() && lines.front().callee == embedding.front().callee) {
    embedded = lines.front().output;
    lines.erase(lines.begin());
  }
  std::set<std::string> hidden{"x"}, made;
  for (const OpLine& line : head) hidden.insert(line.output);
  for (OpLine& line : lines) {
    for (const std::string& name : hidden)
      if (!made.contains(name)) rename(line.args, name, "hidden");
    if (!embedded.empty()) rename(line.args, embedded, "x");
    made.insert(line.output);
  }
  if (!lines.empty())
    for (OpLine& line : out.head.lines) rename(line.args, lines.back().output, "x");
  return out;
}

}  // namespace shardscape
