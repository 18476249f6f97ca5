#include "app/cli/service_answer.h"

#include <iostream>

#include "base/atomic_write.h"

namespace shardscape {

int print_answer(const Arguments& arguments, const std::function<std::string()>& csv,
                 const std::function<std::string()>& json, const std::function<std::string()>& text) {
  int code = kDone;
  if (const std::string* path = arguments.value("--csv"))
    if (const auto problem = atomic_write(*path, csv())) code = service_failure(*problem, kFileError);
  std::cout << (arguments.has("--json") ? json() : text());
  return code;
}

}  // namespace shardscape
