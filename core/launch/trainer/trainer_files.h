// The documents that a trainer's launch consists of: its own YAML, and the DeepSpeed JSON that this names.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "launch/document/launch_document.h"
#include "launch/launch_import.h"

namespace shardscape {

// Whether a line of the text starts with the key and a colon.
bool has_yaml_key(std::string_view text, std::string_view key);
// The YAML of the request; nullopt: out has the Problem.
std::optional<LaunchDocument> read_trainer_yaml(const LaunchRequest& request, LaunchImport& out);
// Adds the settings of a DeepSpeed JSON under "deepspeed.". `argument` holds its path. Without the file, a
// name such as ds_z3_config.json gives the stage, and a note says so. Returns the settings that are not of a
// file.
std::set<std::string> add_deepspeed_file(const LaunchRequest& request, const std::string& argument,
                                         LaunchDocument& document, LaunchImport& out);

// Fields of settings that no file states become assumed ones.
void mark_assumed(const std::set<std::string>& settings, LaunchImport& out);

}  // namespace shardscape
