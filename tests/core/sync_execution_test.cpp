// Proof by execution: plans run on simulated ranks with real numbers. Parameters are kept only where the policy leaves
// them, gradients are reduced and updated by their owners; after two steps every rank must compute with what unsharded
// training has.
#include <QtTest>
#include <random>

#include "cost/sync_model.h"
#include "schedule/sync_plan.h"
#include "support/trace_designs.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

using Values = std::vector<double>;

// Which rank owns an element once a reduction is scattered, or before a gather: the layout each policy documents.
class Owners {
 public:
  Owners(const SyncInput& input, SyncStrategy strategy) : input_(input), strategy_(strategy), ranks_(input.groups.front().size) {}

  // Member of the sharding group, of an element of a part of an action's buffer; flat is its place in the buffer.
  int64_t of(const SyncAction& action, const SyncPart& part, int64_t element, int64_t flat) const {
    const SyncParam& p = input_.params[static_cast<size_t>(part.param)];
    switch (strategy_) {
      case SyncStrategy::Zero3: return element / ceil(p.elements());
      case SyncStrategy::Fsdp2: return element / (p.elements() / p.shape.front()) / ceil(p.shape.front());
      default: return flat / (action.elements / ranks_);
    }
  }

 private:
  int64_t ceil(int64_t n) const { return (n + ranks_ - 1) / ranks_; }
  const SyncInput& input_;
  SyncStrategy strategy_;
  int64_t ranks_;
};

class Job {
 public:
  Job(const SyncInput& input, const SyncPolicy& policy, unsigned seed)
      : input_(input), policy_(policy), owners_(input, policy.strategy), shards_per_copy_(input.groups.front().size),
        ranks_(shards_per_copy_ * input.groups.front().across_size), random_(seed) {
    auto plan = plan_sync(input, policy);
    if (auto* problem = std::get_if<Problem>(&plan)) throw std::runtime_error(to_string(*problem));
    plan_ = std::get<SyncPlan>(std::move(plan));
    for (const SyncParam& p : input.params) {
      Values& values = reference_.emplace_back(static_cast<size_t>(p.elements()));
      for (double& v : values) v = number();
    }
    whole_.assign(static_cast<size_t>(ranks_), reference_);
    shards_ = whole_;
  }

  // False at the first disagreement with unsharded training.
  bool step() {
    reduced_.assign(static_cast<size_t>(ranks_), empties());
    fresh_ = reduced_;
    std::vector<Values> total = zeros();
    local_ = std::vector<std::vector<Values>>(static_cast<size_t>(ranks_), zeros());
    forget();
    for (int64_t mb = 0; mb < policy_.microbatches; ++mb) {
      for (int i = 0; i < static_cast<int>(input_.params.size()); ++i)
        if (!use(Phase::Forward, i, i, mb)) return false;
      for (const int again : reused())
        if (!use(Phase::Forward, again, param_of(again), mb)) return false;
      after_forward();
      for (const int again : reused())
        if (!use(Phase::Backward, again, param_of(again), mb)) return false;
      for (const int i : gradient_order(input_.params)) {
        if (!use(Phase::Backward, i, i, mb)) return false;
        for (int64_t r = 0; r < ranks_; ++r)
          for (size_t e = 0; e < reference_[static_cast<size_t>(i)].size(); ++e) {
            // Depends on the parameter, so that a stale one shows.
            const double g = number() * whole_[static_cast<size_t>(r)][static_cast<size_t>(i)][e];
            local_[static_cast<size_t>(r)][static_cast<size_t>(i)][e] += g;
            total[static_cast<size_t>(i)][e] += g;
          }
        run(mb, [&](const SyncAction& a) { return a.when == SyncWhen::AfterGradient && a.param == i; });
      }
      run(mb, [&](const SyncAction& a) { return a.when == SyncWhen::AfterBackward; });
    }
    return update(total);
  }

 private:
  double number() { return std::uniform_real_distribution<double>(0.5, 1.5)(random_); }
  std::vector<Values> zeros() const {
    std::vector<Values> out;
    for (const SyncParam& p : input_.params) out.emplace_back(static_cast<size_t>(p.elements()), 0.0);
    return out;
  }
  std::vector<Values> empties() const {
    std::vector<Values> out;
    for (const SyncParam& p : input_.params) out.emplace_back(static_cast<size_t>(p.elements()), std::nan(""));
    return out;
  }
  bool shards() const {
    return shards_parameters(policy_.strategy) && !(is_fsdp(policy_.strategy) && policy_.sharding == FsdpSharding::NoShard);
  }
  // Places of modules that use a parameter again, as actions count them.
  std::vector<int> reused() const {
    std::vector<int> out;
    for (size_t i = 0; i < input_.reused.size(); ++i) out.push_back(static_cast<int>(input_.params.size() + i));
    return out;
  }
  int param_of(int place) const {
    const auto params = static_cast<int>(input_.params.size());
    return place < params ? place : input_.reused[static_cast<size_t>(place - params)].param;
  }
  const std::string& module_of(int place) const {
    const auto params = static_cast<int>(input_.params.size());
    return place < params ? input_.params[static_cast<size_t>(place)].module : input_.reused[static_cast<size_t>(place - params)].module;
  }

  // At the start of a step a rank that shards parameters has nothing but its shards.
  void forget() {
    if (!shards()) return;
    for (auto& rank : whole_)
      for (Values& v : rank) std::fill(v.begin(), v.end(), std::nan(""));
  }
  // What the policy frees between forward and backward: FSDP's units, and ZeRO-3 without reuse, persistence and prefetch
  // (which keeps what it passes over).
  void after_forward() {
    if (!shards() || policy_.sharding != FsdpSharding::FullShard) return;
    const ZeroLimits& z = policy_.zero;
    const bool keeps = z.max_reuse_distance > 0 || z.param_persistence_threshold > 0 || z.prefetch_bucket_size > 0;
    if (policy_.strategy == SyncStrategy::Zero3 && keeps) return;
    for (auto& rank : whole_)
      for (size_t i = 0; i < rank.size(); ++i)
        if (policy_.strategy == SyncStrategy::Zero3 || !input_.params[i].unit.empty())
          std::fill(rank[i].begin(), rank[i].end(), std::nan(""));
  }

  // Gathers that are due, then the value must be that of unsharded training.
  bool use(Phase phase, int place, int param, int64_t mb) {
    run(mb, [&](const SyncAction& a) { return a.phase == phase && a.op == SyncOp::AllGather && module_of(a.param) == module_of(place); });
    for (const auto& rank : whole_)
      if (!near(rank[static_cast<size_t>(param)], reference_[static_cast<size_t>(param)])) return false;
    return true;
  }

  template <class Due>
  void run(int64_t mb, const Due& due) {
    for (const SyncAction& a : plan_.actions)
      if (sync_happens(a.turn, mb, policy_.microbatches) && due(a)) execute(a);
  }

  // Hybrid sharding: the first rank of the copy that a rank is in.
  int64_t copy(int64_t rank) const { return rank / shards_per_copy_ * shards_per_copy_; }

  void execute(const SyncAction& a) {
    if (!input_.groups.front().across.empty() && a.group == input_.groups.front().across) return sum_copies();
    int64_t flat = 0;
    for (const SyncPart& part : a.parts) {
      const auto p = static_cast<size_t>(part.param);
      for (int64_t k = 0; k < part.count; ++k, ++flat) {
        const auto e = static_cast<size_t>(part.offset + k);
        const bool scattered = a.op == SyncOp::AllGather || a.op == SyncOp::ReduceScatter;
        const int64_t to = scattered ? owners_.of(a, part, part.offset + k, flat) : a.root;
        std::vector<double> sums(static_cast<size_t>(ranks_), 0.0);  // at the first rank of each copy
        for (int64_t r = 0; r < ranks_; ++r) {
          double& local = local_[static_cast<size_t>(r)][p][e];
          if (a.op == SyncOp::AllGather) {
            whole_[static_cast<size_t>(r)][p][e] = shards_[static_cast<size_t>(copy(r) + to)][p][e];
            continue;
          }
          sums[static_cast<size_t>(copy(r))] += local;
          local = 0;  // the next microbatch accumulates anew
        }
        if (a.op == SyncOp::AllGather) continue;
        for (int64_t r = 0; r < ranks_; ++r) {
          if (a.op != SyncOp::AllReduce && r != copy(r) + to) continue;
          double& out = fresh_[static_cast<size_t>(r)][p][e];
          out = sums[static_cast<size_t>(copy(r))];
          if (input_.groups.front().across.empty()) accumulate(r, p, e);
        }
      }
    }
  }

  // What a reduction has left on a rank is added to what it has of the microbatches before.
  void accumulate(int64_t rank, size_t p, size_t e) {
    double &fresh = fresh_[static_cast<size_t>(rank)][p][e], &out = reduced_[static_cast<size_t>(rank)][p][e];
    out = std::isnan(out) ? fresh : out + fresh;
    fresh = std::nan("");
  }

  // The all-reduce of shards over the copies follows the scatter that made them.
  void sum_copies() {
    for (size_t p = 0; p < reference_.size(); ++p)
      for (size_t e = 0; e < reference_[p].size(); ++e)
        for (int64_t shard = 0; shard < shards_per_copy_; ++shard) {
          if (std::isnan(fresh_[static_cast<size_t>(shard)][p][e])) continue;
          double sum = 0;
          for (int64_t r = shard; r < ranks_; r += shards_per_copy_) sum += fresh_[static_cast<size_t>(r)][p][e];
          for (int64_t r = shard; r < ranks_; r += shards_per_copy_) {
            fresh_[static_cast<size_t>(r)][p][e] = sum;
            accumulate(r, p, e);
          }
        }
  }

  // Every rank updates the elements whose whole sum it has; then what is gathered after the optimizer.
  bool update(const std::vector<Values>& total) {
    constexpr double rate = 1e-3;
    for (size_t p = 0; p < reference_.size(); ++p)
      for (size_t e = 0; e < reference_[p].size(); ++e) {
        const double before = reference_[p][e];
        reference_[p][e] -= rate * total[p][e];
        bool somebody = false;
        for (size_t r = 0; r < reduced_.size(); ++r) {
          const double sum = reduced_[r][p][e];
          shards_[r][p][e] = std::isnan(sum) ? std::nan("") : before - rate * sum;
          somebody |= !std::isnan(sum);
        }
        if (!somebody) return false;
      }
    if (shards()) return true;
    whole_ = shards_;
    run(policy_.microbatches - 1, [](const SyncAction& a) { return a.when == SyncWhen::AfterOptimizer; });
    for (const auto& rank : whole_)
      for (size_t p = 0; p < reference_.size(); ++p)
        if (!near(rank[p], reference_[p])) return false;
    return true;
  }

  static bool near(const Values& a, const Values& b) {
    for (size_t i = 0; i < a.size(); ++i)
      if (!(std::abs(a[i] - b[i]) <= 1e-9 * (1 + std::abs(b[i])))) return false;  // false for NaN too
    return true;
  }

  const SyncInput& input_;
  SyncPolicy policy_;
  Owners owners_;
  int64_t shards_per_copy_, ranks_;
  std::mt19937 random_;
  SyncPlan plan_;
  std::vector<Values> reference_;                    // unsharded training
  std::vector<std::vector<Values>> whole_, shards_;  // per rank: what it computes with; what it owns
  std::vector<std::vector<Values>> local_, fresh_, reduced_;  // gradients per rank
};

// The parameters of a tiny model, through the same path as a design's.
SyncInput tiny(int64_t ranks, bool tied, bool chunks) {
  Design d = trace_design("gpt3-175b", 1, 1, ranks, false, 1, 2);
  d.model.hidden = 6;
  d.model.heads = d.model.kv_heads = 2;
  d.model.head_dim = 3;
  d.model.ffn = 10;
  d.model.vocab = 13;
  d.model.positions = d.workload.seq = 4;
  d.model.tied_embeddings = tied;
  d.workload.vocab_multiple = 1;
  const auto report = trace_report(d);
  return sync_input(report->graph(), report->stages.front().binding, true, true,
                    chunks ? std::vector<std::vector<int>>{{0}, {0}} : std::vector<std::vector<int>>{{0, 0}});
}

}  // namespace

class SyncExecutionTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void policies_train_like_one_rank_data();
  void policies_train_like_one_rank();
};

void SyncExecutionTest::policies_train_like_one_rank_data() {
  QTest::addColumn<int>("strategy");
  const std::array names{"ddp-flat", "ddp-buckets", "distributed-optimizer", "zero-0", "zero-1", "zero-2", "zero-3", "fsdp1", "fsdp2"};
  for (size_t i = 0; i < names.size(); ++i) QTest::newRow(names[i]) << static_cast<int>(i);
}

void SyncExecutionTest::policies_train_like_one_rank() {
  QFETCH(int, strategy);
  std::mt19937 random(31);
  const auto in = [&](int64_t lo, int64_t hi) { return std::uniform_int_distribution<int64_t>(lo, hi)(random); };
  for (int round = 0; round < 40; ++round) {
    const bool chunks = !is_deepspeed(static_cast<SyncStrategy>(strategy)) && in(0, 1) != 0;
    SyncInput input = tiny(in(2, 5), in(0, 1) != 0, chunks);
    SyncPolicy policy;
    policy.strategy = static_cast<SyncStrategy>(strategy);
    policy.microbatches = in(1, 3);
    policy.every_microbatch = in(0, 1) != 0;
    policy.bucket_bytes = in(1, 2000);
    policy.first_bucket_bytes = in(1, 500);
    policy.param_alignment = policy.bucket_alignment = 1;
    policy.zero = {in(1, 900), in(1, 900), in(0, 1) * in(0, 400), in(0, 1) * 20, in(0, 900), in(0, 1) * 900};
    policy.sharding = static_cast<FsdpSharding>(in(0, 2));
    policy.recompute = in(0, 1) != 0;
    const bool shards = shards_in_groups(policy.strategy) && (!is_fsdp(policy.strategy) || policy.sharding != FsdpSharding::NoShard);
    if (shards && in(0, 1) != 0) {
      input.groups.front().across = "copies";
      input.groups.front().across_size = in(2, 3);
    }
    Job job(input, policy, static_cast<unsigned>(round));
    for (int step = 0; step < 2; ++step) QVERIFY2(job.step(), qPrintable(QString("round %1, step %2").arg(round).arg(step)));
  }
}

QTEST_APPLESS_MAIN(SyncExecutionTest)
#include "sync_execution_test.moc"
