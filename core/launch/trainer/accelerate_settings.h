// Settings of accelerate, in its YAML or in flags of `accelerate launch`; both have the names of the YAML.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "launch/document/launch_document.h"
#include "launch/launch_import.h"
#include "launch/shell/shell_script.h"
#include "launch/trainer/trainer_settings.h"

namespace shardscape {

// The settings of an `accelerate launch` command: those of its --config_file, replaced by its flags. Other
// commands have none. nullopt: out has the Problem.
std::optional<LaunchDocument> accelerate_command(const LaunchRequest& request, const ShellCommand& command,
                                                 LaunchImport& out);
// Adds them to the settings of the program, which come first. A note says which setting of accelerate is
// replaced.
void add_accelerate_settings(const LaunchDocument& accelerate, LaunchDocument& program, LaunchImport& out);

// The names where accelerate, not the program, says the precision or the accumulation.
void take_accelerate_names(LaunchFields& fields, TrainerNames& names);
TrainerDegrees accelerate_degrees();
// Context parallelism, and DeepSpeed's Ulysses.
void read_accelerate_sequence(LaunchFields& fields);
// mixed_precision: fp8.
void read_accelerate_fp8(LaunchFields& fields);
// deepspeed_config without a JSON of DeepSpeed. dtype: of the weights.
void read_accelerate_zero(LaunchFields& fields, const std::string& dtype, const std::string& program_clip);
// GPUs of a node; 0: not stated.
int64_t accelerate_node(const LaunchFields& fields);

std::vector<std::string> accelerate_no_effect();

}  // namespace shardscape
