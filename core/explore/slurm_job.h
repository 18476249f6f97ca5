// A search on a cluster with Slurm: scripts of a job array that searches one shard per task, and of the job
// that merges the shards.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/problem.h"

namespace shardscape {

struct SlurmJob {
  std::filesystem::path folder;         // absolute; scripts, logs, checkpoints and parts
  std::filesystem::path work_folder;    // absolute; relative names in arguments start here
  std::filesystem::path program;        // absolute; shardscape-cli, the same file on all nodes
  std::vector<std::string> explore;     // arguments of every shard: the space and the options of the search
  std::vector<std::string> merge;       // arguments of the merge, such as "--json"
  std::optional<std::string> result;    // file of the merged result; nothing: result.json in the folder
  int64_t shards = 16, cpus = 1;        // tasks of the array; cores of each task
  std::string partition, time, memory;  // as sbatch reads them; "": the cluster's default
  std::vector<std::string> options;     // of both jobs: "--account=physics"
};

// A Problem: a value that sbatch does not read, or that could end its line in a script.
std::optional<Problem> check_slurm(const SlurmJob& job);

struct SlurmScripts {
  // shard.sh: a task of the array. A task that starts again continues its newest checkpoint. Every attempt
  // has a checkpoint of its own: a node that was given up may still write to the old one.
  std::string shard;
  std::string merge;   // merge.sh
  std::string submit;  // submit.sh: submits both jobs, the second with a dependency on the first
};
SlurmScripts slurm_scripts(const SlurmJob& job);

// The lines for a person: the two sbatch commands, or the script that runs both.
std::string slurm_lines(const SlurmJob& job);

// Makes the folder, which must be new or empty, and writes the scripts.
std::optional<Problem> write_slurm(const SlurmJob& job);

}  // namespace shardscape
