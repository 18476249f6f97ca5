// Exit codes of commands.
#pragma once

namespace shardscape {

enum ExitCode : int {
  kDone = 0,
  kAnswerIsNo = 1,  // an invalid design, a bundle with errors
  kWrongUsage = 2,
  kFileError = 3,
  kInterrupted = 130
};

}  // namespace shardscape
