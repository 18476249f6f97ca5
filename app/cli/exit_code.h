// Exit codes of commands.
#pragma once

namespace shardscape {

enum ExitCode : int {
  kDone = 0,
  kNegativeAnswer = 1,  // for example an invalid design, a bundle with errors
  kWrongUsage = 2,
  kFileError = 3,
  kInterrupted = 130
};

}  // namespace shardscape
