#include "app/cli/command_list.h"

#include <algorithm>

namespace shardscape {

std::span<const Command> commands() {
  static const std::vector<Command> list{
      presets_command(),   examples_command(),    architecture_command(), machines_command(),
      import_command(),    launch_command(),      report_command(),       inference_command(),
      serve_command(),     fleet_command(),       campaign_command(),     graph_command(),
      timeline_command(),  export_command(),      expand_command(),       check_command(),
      trace_command(),     simulate_command(),    audit_command(),        validate_command(),
      calibrate_command(), profile_command(),     explore_command(),      merge_command(),
      layout_command(),    sensitivity_command(), scaling_command(),      compare_command(),
      reference_command()};
  return list;
}

const Command* find_command(std::string_view name) {
  for (const Command& command : commands()) {
    if (command.name == name || (!command.alias.empty() && command.alias == name)) return &command;
  }
  return nullptr;
}

const Flag* find_flag(std::span<const Flag> flags, std::string_view name) {
  const auto flag = std::find_if(flags.begin(), flags.end(), [&](const Flag& f) { return f.name == name; });
  return flag == flags.end() ? nullptr : &*flag;
}

Flag json_flag() { return {"--json", 0, FlagKind::Switch, "", "Print JSON, for programs.", ""}; }

}  // namespace shardscape
