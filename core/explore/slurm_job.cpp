#include "explore/slurm_job.h"

#include <regex>

#include "base/shown_text.h"
#include "base/write_files.h"
#include "design/knobs/command_flags.h"

namespace shardscape {
namespace {

namespace fs = std::filesystem;

struct Format {
  const char* flag;
  const char* pattern;
  const char* accepted;
};
// Characters that sbatch reads as they are, without quotes.
constexpr Format kPartition{"--slurm-partition", R"([\w.,@+-]+)", "names of partitions, separated by commas"};
constexpr Format kTime{"--slurm-time", R"(\d+(:\d+){0,2}|\d+-\d+(:\d+){0,2})",
                       "minutes, or a time such as 2:30:00 or 1-12:00:00"};
constexpr Format kMemory{"--slurm-memory", R"(\d+[KMGTkmgt]?)", "a size such as 4G"};
constexpr Format kOption{"--slurm-option", R"(--[\w=.,:/@%+\[\]*&|!-]+)",
                         "one long option without spaces and quotes, such as --account=physics"};

std::optional<Problem> mismatch(const Format& format, const std::string& text) {
  // std::regex recurses once per character.
  if (text.size() <= 1000 && std::regex_match(text, std::regex(format.pattern))) return std::nullopt;
  return Problem(ProblemCode::FlagValueInvalid, format.flag, "\"" + shortened(text) + "\" is not accepted",
                 format.accepted);
}

std::string directive(const std::string& option) { return "#SBATCH " + option + "\n"; }

// What both jobs ask of the cluster.
std::string shared_directives(const SlurmJob& job) {
  std::string out;
  if (!job.partition.empty()) out += directive("--partition=" + job.partition);
  if (!job.time.empty()) out += directive("--time=" + job.time);
  if (!job.memory.empty()) out += directive("--mem=" + job.memory);
  out += directive("--cpus-per-task=" + std::to_string(job.cpus));
  for (const std::string& option : job.options) out += directive(option);
  return out;
}

std::string words(const std::vector<std::string>& list) {
  std::string out;
  for (const std::string& word : list) out += ' ' + shell_word(word);
  return out;
}

// SHARDSCAPE_CLI may name another program, for nodes that have it elsewhere.
std::string places(const SlurmJob& job) {
  return "set -euo pipefail\nfolder=" + shell_word(job.folder.string()) +
         "\ninstalled=" + shell_word(job.program.string()) + "\nprogram=${SHARDSCAPE_CLI:-$installed}\ncd " +
         shell_word(job.work_folder.string()) + "\n";
}

std::string shard_script(const SlurmJob& job) {
  const std::string count = std::to_string(job.shards);
  return "#!/bin/bash\n# One shard of a search: a task of a job array. submit.sh submits the array.\n" +
         directive("--job-name=shardscape-explore") +
         directive("--array=0-" + std::to_string(job.shards - 1)) + directive("--requeue") +
         directive("--output=shard-%a.log") + directive("--open-mode=append") + shared_directives(job) +
         places(job) +
         "task=${SLURM_ARRAY_TASK_ID:?this script runs as a task of a Slurm job array}\n"
         "part=$folder/part-$task.json\n"
         "if [ -e \"$part\" ]; then exit 0; fi\n"
         "# Every attempt has its own checkpoint. The newest one of the earlier attempts is continued.\n"
         "checkpoint=$folder/checkpoint-$task-${SLURM_JOB_ID:-0}-${SLURM_RESTART_COUNT:-0}.json\n"
         "newest=\n"
         "for file in \"$folder/checkpoint-$task-\"*.json; do\n"
         "  if [ \"$file\" -nt \"$newest\" ]; then newest=$file; fi\n"
         "done\n"
         "resume=()\n"
         "if [ -n \"$newest\" ]; then\n"
         "  resume=(--resume \"$newest\")\n"
         "  echo \"continues ${newest##*/}\"\n"
         "fi\n"
         "# A signal to the task reaches the program, too, which then writes its checkpoint.\n"
         "trap : TERM INT\n"
         "\"$program\" explore --threads \"${SLURM_CPUS_PER_TASK:-" +
         std::to_string(job.cpus) + "}\"" + words(job.explore) + " --shard \"$task/" + count +
         "\" \\\n  --output \"$checkpoint\" \"${resume[@]}\" || {\n"
         "  code=$?\n"
         "  # Another attempt may have ended meanwhile, and removed the checkpoint.\n"
         "  if [ -e \"$part\" ]; then exit 0; fi\n"
         "  exit \"$code\"\n"
         "}\n"
         "mv -f \"$checkpoint\" \"$part\"\n"
         "rm -f \"$folder/checkpoint-$task-\"* \"$folder/.checkpoint-$task-\"*.partial-*\n";
}

std::string merge_script(const SlurmJob& job) {
  const std::string result = job.result ? shell_word(*job.result) : "\"$folder/result.json\"";
  return "#!/bin/bash\n# Merges the shards of a search. submit.sh submits this job with a dependency on the "
         "array.\n" +
         directive("--job-name=shardscape-merge") + directive("--output=merge.log") + shared_directives(job) +
         places(job) + "parts=()\nfor ((task = 0; task < " + std::to_string(job.shards) +
         "; task++)); do parts+=(\"$folder/part-$task.json\"); done\n"
         "exec \"$program\" merge" +
         words(job.merge) + " --output " + result + " \"${parts[@]}\"\n";
}

std::string submit_line(const SlurmJob& job, const std::string& options, const char* script) {
  return "sbatch " + options + " --chdir=" + shell_word(job.folder.string()) + " " +
         shell_word((job.folder / script).string());
}

std::string submit_script(const SlurmJob& job) {
  return "#!/bin/bash\n# Submits the search and its merge. A search that failed or ran out of time continues "
         "when this script runs again.\nset -euo pipefail\narray=$(" +
         submit_line(job, "--parsable", "shard.sh") + ")\nmerge=$(" +
         submit_line(job, "--parsable --dependency=\"afterok:${array%%;*}\" --kill-on-invalid-dep=yes",
                     "merge.sh") +
         ")\necho \"search: job ${array%%;*}, merge: job ${merge%%;*}\"\n";
}

}  // namespace

std::optional<Problem> check_slurm(const SlurmJob& job) {
  using Value = std::pair<const Format&, const std::string&>;
  for (const auto& [format, text] :
       {Value{kPartition, job.partition}, Value{kTime, job.time}, Value{kMemory, job.memory}}) {
    if (text.empty()) continue;
    if (auto problem = mismatch(format, text)) return problem;
  }
  for (const std::string& option : job.options)
    if (auto problem = mismatch(kOption, option)) return problem;
  return std::nullopt;
}

SlurmScripts slurm_scripts(const SlurmJob& job) {
  return {shard_script(job), merge_script(job), submit_script(job)};
}

std::string slurm_lines(const SlurmJob& job) {
  return submit_line(job, "--parsable", "shard.sh") + "\n" +
         submit_line(job, "--dependency=afterok:ID", "merge.sh") +
         "\n\nID is the number that the first line prints. The script submit.sh runs both lines:\n\nbash " +
         shell_word((job.folder / "submit.sh").string()) + "\n";
}

std::optional<Problem> write_slurm(const SlurmJob& job) {
  std::error_code error;
  if (fs::is_directory(job.folder, error) && !fs::is_empty(job.folder, error) && !error)
    return Problem(ProblemCode::FolderNotEmpty, job.folder.string(), "the folder is not empty",
                   "a new or an empty folder");
  const SlurmScripts scripts = slurm_scripts(job);
  return write_files(
      job.folder, {{"shard.sh", scripts.shard}, {"merge.sh", scripts.merge}, {"submit.sh", scripts.submit}});
}

}  // namespace shardscape
