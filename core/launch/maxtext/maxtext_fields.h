// The arguments of MaxText, read into a design. Names and defaults: AI-Hypercomputer/maxtext
// e591f30cbbf217ed67ef71263ec0538239f9c3b8, src/maxtext/configs/base.yml; rules:
// src/maxtext/configs/types.py.
#pragma once

#include "launch/launch_fields.h"
#include "launch/launch_import.h"

namespace shardscape {

// slices: groups of chips that ICI connects. Problems go to `out`.
LaunchDesign read_maxtext_arguments(const LaunchArguments& arguments, int64_t slices,
                                    const LaunchRequest& request, LaunchImport& out);

// Sizes and architecture. False after a problem.
bool read_maxtext_model(LaunchFields& fields, const LaunchRequest& request, LaunchImport& out);

}  // namespace shardscape
