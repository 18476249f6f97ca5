#include "app/cli/slurm_flags.h"

#include <filesystem>
#include <iostream>

#include "app/cli/exit_code.h"
#include "app/cli/messages.h"
#include "app/cli/space_flags.h"
#include "explore/slurm_job.h"

namespace shardscape {
namespace {

constexpr CountFlag kShards{"--slurm-shards", 16, 2, 100'000,
                            "Tasks of the job array, each with one shard; default: 16."};
constexpr CountFlag kCpus{"--slurm-cpus", 1, 1, 4096, "Cores per task; default: 1."};

// Flags of the merge, not of the shards.
bool of_merge(const std::string& flag) { return flag == "--json" || flag == "--csv"; }

// "--tp=1,2", or "--usual" for a switch.
std::string word(const std::vector<Flag>& flags, const std::string& name, const std::string& value) {
  const Flag* flag = find_flag(flags, name);
  return flag && flag->kind == FlagKind::Switch ? name : name + "=" + value;
}

std::string text_of(const Arguments& arguments, const char* flag) {
  const std::string* text = arguments.value(flag);
  return text ? *text : "";
}

}  // namespace

std::vector<Flag> slurm_flags() {
  const char* group = "Search on a cluster with Slurm";
  std::vector<Flag> flags{
      {"--slurm", 0, FlagKind::Value, "DIR",
       "Do not search: write the scripts of a job array and of its merge to the new folder DIR, and print "
       "the sbatch lines. All nodes must see DIR and the program. The merged result is -o FILE, default: "
       "result.json in DIR.",
       "", Output::Folder},
      kShards.flag(),
      {"--slurm-partition", 0, FlagKind::Value, "NAME", "Partition; default: the cluster's.", ""},
      {"--slurm-time", 0, FlagKind::Value, "TIME",
       "Time limit of a task, as minutes or [DAYS-]HOURS:MINUTES:SECONDS; default: the partition's.", ""},
      {"--slurm-memory", 0, FlagKind::Value, "SIZE", "Memory per node, as 4G; default: the cluster's.", ""},
      kCpus.flag(),
      {"--slurm-option", 0, FlagKind::Value, "OPTION",
       "Another option of sbatch for both jobs: --slurm-option=--account=physics. May be repeated.", ""}};
  for (Flag& flag : flags) flag.group = group;
  return flags;
}

std::optional<int> check_slurm_flags(const Arguments& arguments) {
  if (!arguments.has("--slurm")) {
    for (const Flag& flag : slurm_flags())
      if (arguments.has(flag.name))
        return failed({ProblemCode::ConflictingFlags, flag.name, "only a search on a cluster has this flag",
                       "--slurm DIR"},
                      kWrongUsage);
    return std::nullopt;
  }
  for (const char* flag : {"--shard", "--resume", "--guided", "--count"})
    if (arguments.has(flag))
      return failed({ProblemCode::ConflictingFlags, flag, "the tasks of a job array have shards of their own",
                     "either --slurm or " + std::string(flag)},
                    kWrongUsage);
  return std::nullopt;
}

int write_slurm_scripts(const Arguments& arguments, const std::vector<Flag>& flags) {
  SlurmJob job;
  if (const auto exit_code = read_counts(arguments, {{kShards, &job.shards}, {kCpus, &job.cpus}}))
    return *exit_code;
  std::error_code error;
  job.folder = std::filesystem::absolute(text_of(arguments, "--slurm"), error).lexically_normal();
  if (!error) job.work_folder = std::filesystem::current_path(error);
  if (!error) job.program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error)
    return failed({ProblemCode::FileUnreadable, "--slurm",
                   "the folder or the program cannot be found: " + error.message(), "an existing folder"},
                  kFileError);
  if (const std::string* result = arguments.value("--output")) job.result = *result;
  job.partition = text_of(arguments, "--slurm-partition");
  job.time = text_of(arguments, "--slurm-time");
  job.memory = text_of(arguments, "--slurm-memory");
  job.options = arguments.values("--slurm-option");
  if (!arguments.has("--checkpoint")) job.explore.emplace_back("--checkpoint=60");
  for (const auto& [name, value] : arguments.given()) {
    if (name.starts_with("--slurm") || name == "--output") continue;
    (of_merge(name) ? job.merge : job.explore).push_back(word(flags, name, value));
  }
  if (const auto problem = check_slurm(job)) return failed(*problem, kWrongUsage);
  if (const auto problem = write_slurm(job)) return failed(*problem, kFileError);
  std::cout << slurm_lines(job);
  return kDone;
}

}  // namespace shardscape
