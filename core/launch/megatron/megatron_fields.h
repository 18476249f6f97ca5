// The arguments of a launch of Megatron-LM, with its names and defaults.
#pragma once

#include "launch/launch_fields.h"
#include "launch/megatron/megatron_flags.h"

namespace shardscape {

class MegatronFields : public LaunchFields {
 public:
  MegatronFields(const LaunchArguments& arguments, int64_t gpus)
      : LaunchFields(arguments, gpus, "Megatron-LM") {}
  LaunchDesign finish();

 private:
  MegatronFlags flags_;
};

// Whether the launch is one of MindSpeed, a fork of Megatron-LM for Ascend, whose own arguments are not
// understood.
bool is_mindspeed(const LaunchArguments& arguments);

// Sizes and architecture.
void read_megatron_model(MegatronFields& fields);

}  // namespace shardscape
