#include "design/knobs/command_flags.h"

#include <algorithm>
#include <cctype>

#include "design/knobs/knobs.h"
#include "model/library.h"

namespace shardscape {
namespace {

constexpr const char* kUsualModel = "llama3-8b";  // of a command line without --model

// The command line derives these from other flags, so they are always written.
bool derived(const Knob& knob) { return knob.id == "seq" || knob.id == "batch"; }

}  // namespace

std::vector<std::string> command_flags(const Design& design) {
  const bool known = ModelLibrary::instance().preset(design.model.preset) != nullptr;
  const std::string preset = known ? design.model.preset : kUsualModel;
  Design start;
  apply_preset(start, preset);
  std::vector<std::string> words{"--model=" + preset};
  if (design.model.architecture != start.model.architecture)
    words.push_back("--architecture=" + design.model.architecture);
  for (const Knob& knob : knobs()) {
    const std::string text = knob_text(design, knob);
    // The size of nodes follows the network (follow_node_size).
    const bool follows = knob.id == "gpus_per_node" &&
                         (design.cluster.network != start.cluster.network ||
                          design.cluster.accelerator != start.cluster.accelerator);
    if (derived(knob) || follows || text != knob_text(start, knob)) words.push_back(knob.flag() + "=" + text);
  }
  return words;
}

std::string shell_word(const std::string& word) {
  const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) ||
           std::string_view("-_=.,:/+@%").find(c) != std::string::npos;
  });
  if (plain) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string command_line(const Design& design, const std::string& command) {
  std::string line = "shardscape-cli " + command;
  for (const std::string& word : command_flags(design)) line += ' ' + shell_word(word);
  return line;
}

}  // namespace shardscape
