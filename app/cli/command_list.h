// The commands, one maker per file command_<name>.cpp.
#pragma once

#include "app/cli/command.h"

namespace shardscape {

Command presets_command();
Command import_command();
Command report_command();
Command inference_command();
Command graph_command();
Command timeline_command();
Command export_command();
Command check_command();
Command play_command();
Command audit_command();
Command validate_command();
Command calibrate_command();

// --json with the same words everywhere.
Flag json_flag();

}  // namespace shardscape
