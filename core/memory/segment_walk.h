// A walk over the ops of one part of a segment, which allocates and frees storages as PyTorch does. Private
// to segment_memory.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "memory/segment_memory.h"

namespace shardscape {

class SegmentLifetimes::Walk {
 public:
  // Optional results; null: not wanted.
  struct Outputs {
    std::vector<LiveStorage>* at_peak = nullptr;  // storages and workspaces at the peak
    std::vector<int64_t>* blocks = nullptr;       // their bytes
    SegmentEvents* events = nullptr;
  };
  Walk(const SegmentLifetimes& lifetimes, int segment, CheckpointPolicy checkpoint_policy,
       const SegmentSizes& sizes, Part part, Outputs outputs);
  SegmentPart run();

 private:
  // The workspace of an op and the parameter gradients that exist only while the op runs.
  struct Temporaries {
    int64_t bytes = 0;
    std::vector<MemoryEvent> events;  // allocations, if events are wanted
    const char* name = "";            // suffix of the op's name
  };

  bool runs_here(OpId id) const;
  StorageId memory(TensorId tensor) const;       // the storage that owns the tensor's memory; -1: none
  StorageId memory_read(TensorId tensor) const;  // the same for an input; without a replay the forward tensor
  void allocate(StorageId id);
  void free(StorageId id);
  void record(StorageId id, int64_t change);
  void count_as_activation(StorageId id);

  void allocate_begin();
  void allocate_replayed();
  void find_last_uses();
  OpId held_until(OpId id) const;
  void hold_longer();
  bool is_merged(StorageId id, OpId by) const;
  void run_op(OpId id);
  bool makes_gradient(const Op& op, size_t param) const;
  Temporaries allocate_temporaries(OpId id);
  void record_peak(OpId id, const Temporaries& temporaries);
  void free_temporaries(OpId id, const Temporaries& temporaries);
  void free_after(OpId id);
  void name_messages();

  const SegmentLifetimes& lifetimes_;
  const Segment& s_;
  const PerSegment& of_;
  const CheckpointPolicy checkpoint_policy_;
  const Part part_;
  const bool forward_, allocates_gradients_, input_only_, backward_;
  const OpId first_, last_;  // the ops of the part: [first_, last_)
  const std::vector<int64_t>&bytes_, &workspaces_, &gradients_;
  const std::vector<int64_t>* new_gradients_;  // set if the part allocates gradients
  const Outputs outputs_;
  std::vector<MemoryCategory> category_;  // by storage
  std::vector<bool> alive_;               // by storage
  CategoryBytes now_{};
  StorageId input_ = -1;
  const std::set<StorageId> saved_;  // saved between forward and backward
  std::set<StorageId> survivors_;    // storages that are still allocated after the part
  // Gradients of carried tensors that this part begins, which live to its end. StageProfiles counts them from
  // there on.
  std::set<StorageId> begun_;
  std::map<StorageId, OpId> last_use_;
  // Tensors and workspaces that Python variables of the block's code hold longer, by the op that ends this.
  std::map<OpId, std::vector<StorageId>> held_storages_;
  std::map<OpId, int64_t> held_workspaces_;
  std::map<OpId, std::vector<MemoryEvent>> temporaries_until_;
  StorageId last_temporary_ = 0;    // ids of temporaries count down from -1
  std::vector<bool> has_gradient_;  // by parameter: this part has allocated its gradient
  SegmentPart result_;
};

}  // namespace shardscape
