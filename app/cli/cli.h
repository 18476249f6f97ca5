// The command line: shardscape-cli presets | report | graph | export | check.
#pragma once

namespace shardscape {

// Exit codes: 0 done, 1 the answer is no (an invalid design, a bundle that fails its check), 2 wrong usage, 3
// a file or disk error, 130 interrupted.
int run_cli(int argc, char** argv);

}  // namespace shardscape
