// All commands; make functions are in files command_<name>.cpp.
#pragma once

#include "app/cli/command.h"

namespace shardscape {

Command presets_command();
Command examples_command();
Command import_command();
Command report_command();
Command inference_command();
Command serve_command();
Command fleet_command();
Command campaign_command();
Command graph_command();
Command timeline_command();
Command export_command();
Command expand_command();
Command check_command();
Command simulate_command();
Command audit_command();
Command validate_command();
Command calibrate_command();
Command explore_command();
Command merge_command();
Command layout_command();
Command sensitivity_command();
Command scaling_command();
Command compare_command();
Command reference_command();
Command machines_command();
Command architecture_command();

// The flag --json, with one help text for all commands.
Flag json_flag();

}  // namespace shardscape
