#include "launch/launch_export.h"

#include <algorithm>

#include "launch/maxtext/maxtext_export.h"
#include "launch/torchtitan/torchtitan_export.h"

namespace shardscape {
namespace {

struct Writer {
  LaunchFramework framework;
  std::variant<LaunchText, Problem> (*write)(const Design& design);
};

// One row per framework.
const std::vector<Writer>& writers() {
  static const std::vector<Writer> kWriters{
      {{"torchtitan", "torchtitan", "TOML file of v0.2.2"}, write_torchtitan},
      {{"maxtext", "MaxText", "command line"}, write_maxtext}};
  return kWriters;
}

}  // namespace

const std::vector<LaunchFramework>& launch_export_frameworks() {
  static const std::vector<LaunchFramework> kFrameworks = [] {
    std::vector<LaunchFramework> out;
    for (const Writer& writer : writers()) out.push_back(writer.framework);
    return out;
  }();
  return kFrameworks;
}

std::variant<LaunchText, Problem> export_launch(const Design& design, std::string_view framework) {
  const auto chosen = std::find_if(writers().begin(), writers().end(),
                                   [&](const Writer& one) { return one.framework.id == framework; });
  if (chosen != writers().end()) return chosen->write(design);
  std::string known;
  for (const Writer& writer : writers())
    known += (known.empty() ? "" : ", ") + std::string(writer.framework.id);
  return Problem{ProblemCode::LaunchFormat, "--as",
                 "\"" + std::string(framework) + "\" is no framework that designs are written for",
                 "one of " + known};
}

}  // namespace shardscape
