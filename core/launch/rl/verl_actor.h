// Settings of verl's actor, as its two backends read them: Megatron-core, or PyTorch's FSDP.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "launch/document/launch_document.h"
#include "launch/launch_import.h"

namespace shardscape {

constexpr const char* kVerlActor = "actor_rollout_ref.actor.";
constexpr const char* kVerlModel = "actor_rollout_ref.model.";

// Sizes of the actor's step. A Megatron or FSDP reader says where they go.
struct VerlBatch {
  int64_t seq = 0;         // the longest prompt and the longest response
  int64_t batch = 0;       // sequences of an update: ppo_mini_batch_size x rollout.n
  int64_t microbatch = 0;  // sequences of a forward pass and GPU; 0: the launch does not say it
  // Microbatches hold as many sequences as fit a number of tokens. `microbatch` then divides the sequences of
  // a replica.
  bool by_tokens = false;
};
// cp: ranks that share a sequence; dp: replicas; 0: not known.
VerlBatch verl_batch(const LaunchArguments& arguments, int64_t cp, int64_t dp);

// Settings of other steps, and of data, logs and losses. A final '*' stands for any ending.
// Those of verl_changes() with their usual values are among them.
std::vector<const char*> verl_no_effect();
struct VerlChange {
  const char *name, *usual, *reason;  // the value that changes nothing, and what another one changes
};
std::span<const VerlChange> verl_changes();
// Whether a setting is there with another value than the one that changes nothing.
bool changes(const VerlChange& change, const LaunchArguments& arguments);

void read_verl_megatron(LaunchDocument document, std::optional<int64_t> gpus, const std::string& gpus_from,
                        const LaunchRequest& request, LaunchImport& out);
void read_verl_fsdp(const LaunchDocument& document, std::optional<int64_t> gpus, const std::string& gpus_from,
                    const LaunchRequest& request, LaunchImport& out);

}  // namespace shardscape
