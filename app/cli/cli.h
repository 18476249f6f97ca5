// Entry point of the command line. command_list.h has the commands.
#pragma once

namespace shardscape {

// Exit codes: 0 success, 1 negative answer (an invalid design, a bundle or a file with errors), 2 wrong
// usage, 3 a file or folder that cannot be read or written, 130 interrupted.
int run_cli(int argc, char** argv);

}  // namespace shardscape
