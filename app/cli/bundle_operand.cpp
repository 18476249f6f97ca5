#include "app/cli/bundle_operand.h"

#include "app/cli/exit_code.h"
#include "app/cli/messages.h"
#include "bundle/archive.h"

namespace shardscape {

namespace fs = std::filesystem;

std::variant<fs::path, int> bundle_operand(const Arguments& arguments, const char* command) {
  if (arguments.operands().empty()) {
    print_problem({ProblemCode::OperandMissing, "BUNDLE", "the folder is missing",
                   "shardscape-cli " + std::string(command) + " BUNDLE"});
    return static_cast<int>(kWrongUsage);
  }
  const fs::path bundle = arguments.operands().front();
  // A missing folder has another exit code than an invalid bundle.
  std::error_code error;
  const fs::file_status status = fs::status(bundle, error);
  const std::string reason = status.type() == fs::file_type::not_found ? "there is no such folder"
                             : !fs::exists(status)                     ? error.message()
                             : !fs::is_directory(status)
                                 ? "it is not a folder"
                                 : (fs::directory_iterator(bundle, error), error ? error.message() : "");
  if (reason.empty()) return bundle;
  print_problem(
      {ProblemCode::NotAFolder, bundle.string(), reason,
       "the folder of a bundle, as written by shardscape-cli export" +
           std::string(archive_format(bundle) ? "; tar -xf " + bundle.string() + " makes it" : "")});
  return static_cast<int>(kFileError);
}

}  // namespace shardscape
