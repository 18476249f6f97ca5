// Launches of trainers on top of Hugging Face transformers.
#pragma once

#include <string_view>

#include "launch/document/launch_document.h"
#include "launch/launch_import.h"

namespace shardscape {

// YAML of `accelerate config`. The script that it starts has the model and the batch.
bool is_accelerate_config(std::string_view text);
void read_accelerate_config(const LaunchRequest& request, LaunchImport& out);

bool is_llama_factory_yaml(std::string_view text);
void read_llama_factory_yaml(const LaunchRequest& request, LaunchImport& out);
// The same of settings that are read already. request.where: the file.
void read_llama_factory(const LaunchRequest& request, LaunchDocument document, LaunchImport& out);

bool is_axolotl_yaml(std::string_view text);
void read_axolotl_yaml(const LaunchRequest& request, LaunchImport& out);
void read_axolotl(const LaunchRequest& request, LaunchDocument document, LaunchImport& out);

// Scripts that start a program with transformers' TrainingArguments, or a trainer with its YAML.
bool is_trainer_script(std::string_view text);
void read_trainer_script(const LaunchRequest& request, LaunchImport& out);

}  // namespace shardscape
