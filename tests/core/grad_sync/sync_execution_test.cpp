// Proof by execution: plans run on simulated ranks with real numbers. Ranks store only the parameters that
// the policy leaves on them, and owners reduce gradients and update parameters. After two steps every rank
// must compute with the parameters of unsharded training.
#include <QtTest>
#include <random>
#include <set>

#include "design/knobs/knobs.h"
#include "grad_sync/sync_model.h"
#include "grad_sync/sync_plan.h"
#include "support/trace_designs.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

using Values = std::vector<double>;
using RankLists = std::vector<std::vector<int64_t>>;  // by rank: the members of its group, itself among them

// Who holds the parameters of one group of the input.
struct Members {
  RankLists replicas, shard, across;
};

// All ranks hold the same parameters, neighbours share a copy of their states.
Members neighbours(const SyncGroup& group) {
  Members out;
  for (int64_t r = 0; r < group.size * group.across_size; ++r) {
    std::vector<int64_t> all, shard, across;
    for (int64_t other = 0; other < group.size * group.across_size; ++other) {
      all.push_back(other);
      if (other / group.size == r / group.size) shard.push_back(other);
      if (other % group.size == r % group.size) across.push_back(other);
    }
    out.replicas.push_back(std::move(all));
    out.shard.push_back(std::move(shard));
    out.across.push_back(std::move(across));
  }
  return out;
}

// Which rank owns an element once a reduction is scattered, or before a gather: the layout each policy
// documents.
class Owners {
 public:
  Owners(const SyncInput& input, SyncStrategy strategy) : input_(input), strategy_(strategy) {}

  // Member of the sharding group, of an element of a part of an action's buffer; flat is its place in the
  // buffer.
  int64_t of(const SyncAction& action, const SyncPart& part, int64_t element, int64_t flat) const {
    const SyncParam& p = input_.params[static_cast<size_t>(part.param)];
    const int64_t ranks = input_.groups[static_cast<size_t>(action.replicas)].size;
    switch (strategy_) {
      case SyncStrategy::Zero3: return element / ceil(p.elements(), ranks);
      case SyncStrategy::Fsdp2:
        return element / (p.elements() / p.shape.front()) / ceil(p.shape.front(), ranks);
      default: return flat / (action.elements / ranks);
    }
  }

 private:
  static int64_t ceil(int64_t n, int64_t ranks) { return (n + ranks - 1) / ranks; }
  const SyncInput& input_;
  SyncStrategy strategy_;
};

class Job {
 public:
  // members: of every group of the input.
  Job(const SyncInput& input, std::vector<Members> members, const SyncPolicy& policy, unsigned seed)
      : input_(input),
        members_(std::move(members)),
        policy_(policy),
        owners_(input, policy.strategy),
        ranks_(static_cast<int64_t>(members_.front().replicas.size())),
        random_(seed) {
    auto plan = plan_sync(input, policy);
    if (auto* problem = std::get_if<Problem>(&plan)) throw std::runtime_error(to_string(*problem));
    plan_ = std::get<SyncPlan>(std::move(plan));
    reference_.assign(static_cast<size_t>(ranks_), zeros());
    for (int64_t r = 0; r < ranks_; ++r)
      for (size_t p = 0; p < input.params.size(); ++p) {
        Values& values = reference_[static_cast<size_t>(r)][p];
        if (const int64_t first = first_of(r, p); first < r)
          values = reference_[static_cast<size_t>(first)][p];
        else
          for (double& v : values) v = number();
      }
    shards_ = whole_ = reference_;
  }

  // False at the first disagreement with unsharded training.
  bool step() {
    reduced_.assign(static_cast<size_t>(ranks_), empties());
    fresh_ = reduced_;
    std::vector<std::vector<Values>> total(static_cast<size_t>(ranks_), zeros());  // at the first replica
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
        if (frozen(static_cast<size_t>(i))) continue;
        for (int64_t r = 0; r < ranks_; ++r)
          for (size_t e = 0; e < whole_[static_cast<size_t>(r)][static_cast<size_t>(i)].size(); ++e) {
            // Depends on the parameter, so that a stale one shows.
            const double g = number() * whole_[static_cast<size_t>(r)][static_cast<size_t>(i)][e];
            local_[static_cast<size_t>(r)][static_cast<size_t>(i)][e] += g;
            total[static_cast<size_t>(first_of(r, static_cast<size_t>(i)))][static_cast<size_t>(i)][e] += g;
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
    for (const SyncParam& p : input_.params)
      out.emplace_back(static_cast<size_t>(p.elements()), std::nan(""));
    return out;
  }
  const Members& members(size_t param) const {
    return members_[static_cast<size_t>(input_.params[param].group)];
  }
  int64_t first_of(int64_t rank, size_t param) const {
    return members(param).replicas[static_cast<size_t>(rank)].front();
  }
  bool frozen(size_t param) const { return input_.params[param].frozen; }
  // A group of one rank has nothing to shard.
  bool sharded(size_t param) const {
    return input_.groups[static_cast<size_t>(input_.params[param].group)].size > 1;
  }
  bool shards() const {
    return shards_parameters(policy_.strategy) &&
           !(is_fsdp(policy_.strategy) && policy_.sharding == FsdpSharding::NoShard);
  }
  // Places of modules that use a parameter again, as actions count them.
  std::vector<int> reused() const {
    std::vector<int> out;
    for (size_t i = 0; i < input_.reused.size(); ++i)
      out.push_back(static_cast<int>(input_.params.size() + i));
    return out;
  }
  int param_of(int place) const {
    const auto params = static_cast<int>(input_.params.size());
    return place < params ? place : input_.reused[static_cast<size_t>(place - params)].param;
  }
  const std::string& module_of(int place) const {
    const auto params = static_cast<int>(input_.params.size());
    return place < params ? input_.params[static_cast<size_t>(place)].module
                          : input_.reused[static_cast<size_t>(place - params)].module;
  }

  // At the start of a step a rank that shards parameters has nothing but its shards.
  void forget() {
    if (!shards()) return;
    for (auto& rank : whole_)
      for (size_t i = 0; i < rank.size(); ++i)
        if (sharded(i)) std::fill(rank[i].begin(), rank[i].end(), std::nan(""));
    for (size_t r = 0; r < whole_.size(); ++r)
      for (size_t i = 0; i < whole_[r].size(); ++i)
        if (!sharded(i)) whole_[r][i] = shards_[r][i];
  }
  // Frees the parameters that the policy frees between forward and backward: FSDP's units, and those of
  // ZeRO-3 without reuse, persistence and prefetch.
  void after_forward() {
    if (!shards() || policy_.sharding != FsdpSharding::FullShard) return;
    const ZeroLimits& z = policy_.zero;
    const bool checkpoint_policy = z.max_reuse_distance > 0 || z.param_persistence_threshold > 0 ||
                                   z.prefetch_bucket_size > 0;
    if (policy_.strategy == SyncStrategy::Zero3 && checkpoint_policy) return;
    for (auto& rank : whole_)
      for (size_t i = 0; i < rank.size(); ++i)
        if (sharded(i) && (policy_.strategy == SyncStrategy::Zero3 || !input_.params[i].unit.empty()))
          std::fill(rank[i].begin(), rank[i].end(), std::nan(""));
  }

  // Gathers that are due, then the value must be that of unsharded training.
  bool use(Phase phase, int place, int param, int64_t mb) {
    run(mb, [&](const SyncAction& a) {
      return a.phase == phase && a.op == CollectiveKind::AllGather && module_of(a.param) == module_of(place);
    });
    for (size_t r = 0; r < whole_.size(); ++r)
      if (!near(whole_[r][static_cast<size_t>(param)], reference_[r][static_cast<size_t>(param)]))
        return false;
    return true;
  }

  template <class Due>
  void run(int64_t mb, const Due& due) {
    for (const SyncAction& a : plan_.actions)
      if (sync_happens(a.occurrence, mb, policy_.microbatches) && due(a)) execute(a);
  }

  void execute(const SyncAction& a) {
    const SyncGroup& group = input_.groups[static_cast<size_t>(a.replicas)];
    const bool across = !group.across.empty() && a.group == group.across;
    if (across && a.parts.empty()) return sum_copies(std::exchange(scattered_, {}));
    if (a.op == CollectiveKind::ReduceScatter) scattered_ = a.parts;
    // ZeRO-2: the rank's part comes from several rooted reductions.
    if (a.op == CollectiveKind::Reduce) scattered_.insert(scattered_.end(), a.parts.begin(), a.parts.end());
    const Members& of = members_[static_cast<size_t>(a.replicas)];
    const bool whole = !group.across.empty() && a.group == group.both;  // ZeRO-1
    const RankLists& lists = across ? of.across : whole ? of.replicas : of.shard;
    int64_t flat = 0;
    for (const SyncPart& part : a.parts) {
      const auto p = static_cast<size_t>(part.param);
      for (int64_t k = 0; k < part.count; ++k, ++flat) {
        const auto e = static_cast<size_t>(part.offset + k);
        const bool scattered = a.op == CollectiveKind::AllGather || a.op == CollectiveKind::ReduceScatter;
        const int64_t to = scattered ? owners_.of(a, part, part.offset + k, flat) : a.root;
        for (int64_t r = 0; r < ranks_; ++r) {
          const std::vector<int64_t>& list = lists[static_cast<size_t>(r)];
          if (a.op == CollectiveKind::AllGather) {
            whole_[static_cast<size_t>(r)][p][e] = shards_[static_cast<size_t>(list[static_cast<size_t>(to)])]
                                                          [p][e];
            continue;
          }
          if (list.front() != r) continue;
          double sum = 0;
          for (const int64_t member : list)
            sum += std::exchange(local_[static_cast<size_t>(member)][p][e],
                                 0.0);  // the next microbatch accumulates anew
          for (size_t i = 0; i < list.size(); ++i) {
            if (a.op != CollectiveKind::AllReduce && static_cast<int64_t>(i) != to) continue;
            // MiCS: the scatters of several microbatches add up until shards go across copies.
            double& fresh = fresh_[static_cast<size_t>(list[i])][p][e];
            fresh = std::isnan(fresh) ? sum : fresh + sum;
            if (across || whole || group.across.empty()) accumulate(list[i], p, e);
          }
        }
      }
    }
  }

  // Adds the result of a reduction on a rank to the sum of the earlier microbatches.
  void accumulate(int64_t rank, size_t p, size_t e) {
    double &fresh = fresh_[static_cast<size_t>(rank)][p][e], &out = reduced_[static_cast<size_t>(rank)][p][e];
    out = std::isnan(out) ? fresh : out + fresh;
    fresh = std::nan("");
  }

  // The all-reduce of shards over the copies follows the scatter that made them.
  void sum_copies(const std::vector<SyncPart>& scattered) {
    for (const SyncPart& part : scattered) {
      const auto p = static_cast<size_t>(part.param);
      for (int64_t r = 0; r < ranks_; ++r) {
        const std::vector<int64_t>& copies = members(p).across[static_cast<size_t>(r)];
        if (copies.front() != r) continue;
        for (size_t e = 0; e < reference_.front()[p].size(); ++e) {
          double sum = 0;
          for (const int64_t copy : copies) sum += fresh_[static_cast<size_t>(copy)][p][e];
          if (std::isnan(sum)) continue;  // elements of other ranks
          for (const int64_t copy : copies) {
            fresh_[static_cast<size_t>(copy)][p][e] = sum;
            accumulate(copy, p, e);
          }
        }
      }
    }
  }

  // Every rank updates the elements whose complete sum it has. Then runs the gathers after the optimizer.
  bool update(const std::vector<std::vector<Values>>& total) {
    constexpr double rate = 1e-3;
    for (int64_t r = 0; r < ranks_; ++r)
      for (size_t p = 0; p < input_.params.size(); ++p)
        for (size_t e = 0; e < reference_[static_cast<size_t>(r)][p].size(); ++e) {
          double& reference = reference_[static_cast<size_t>(r)][p][e];
          const double before = reference, sum = reduced_[static_cast<size_t>(r)][p][e];
          if (frozen(p)) {
            if (!std::isnan(sum)) return false;  // nothing reduces it
            continue;
          }
          reference -= rate * total[static_cast<size_t>(first_of(r, p))][p][e];
          shards_[static_cast<size_t>(r)][p][e] = std::isnan(sum) ? std::nan("") : before - rate * sum;
          const auto& replicas = members(p).replicas[static_cast<size_t>(r)];
          if (std::all_of(replicas.begin(), replicas.end(), [&](int64_t other) {
                return std::isnan(reduced_[static_cast<size_t>(other)][p][e]);
              }))
            return false;
        }
    if (shards()) return true;
    whole_ = shards_;
    run(policy_.microbatches - 1, [](const SyncAction& a) { return a.when == SyncWhen::AfterOptimizer; });
    for (size_t r = 0; r < whole_.size(); ++r)
      for (size_t p = 0; p < reference_[r].size(); ++p)
        if (!near(whole_[r][p], reference_[r][p])) return false;
    return true;
  }

  static bool near(const Values& a, const Values& b) {
    for (size_t i = 0; i < a.size(); ++i)
      if (!(std::abs(a[i] - b[i]) <= 1e-9 * (1 + std::abs(b[i])))) return false;  // false for NaN too
    return true;
  }

  const SyncInput& input_;
  std::vector<Members> members_;
  SyncPolicy policy_;
  Owners owners_;
  int64_t ranks_;
  std::mt19937 random_;
  SyncPlan plan_;
  std::vector<std::vector<Values>> reference_;                // per rank: what it has in unsharded training
  std::vector<std::vector<Values>> whole_, shards_;           // what it computes with; what it owns
  std::vector<std::vector<Values>> local_, fresh_, reduced_;  // gradients per rank
  std::vector<SyncPart> scattered_;                           // by the latest reduce-scatter
};

Design tiny_design(const char* preset, int64_t ranks) {
  Design d = trace_design(preset, 1, 1, ranks, false, 1, 2);
  d.model.hidden = 6;
  d.model.heads = d.model.kv_heads = 2;
  d.model.head_dim = 3;
  d.model.ffn = 10;
  d.model.vocab = 13;
  d.workload.seq = 4;
  d.workload.vocab_multiple = 1;
  return d;
}

// The parameters of a tiny model, through the same path as a design's.
SyncInput tiny(int64_t ranks, bool tied, bool chunks) {
  Design d = tiny_design("gpt3-175b", ranks);
  d.model.positions = d.workload.seq;
  d.model.tied_embeddings = tied;
  const auto report = trace_report(d);
  return sync_input(report->graph(), report->stages.front().binding, true, true,
                    chunks ? std::vector<std::vector<int>>{{0}, {0}} : std::vector<std::vector<int>>{{0, 0}});
}

SyncPolicy tiny_policy(SyncStrategy strategy, const auto& in) {
  SyncPolicy policy;
  policy.strategy = strategy;
  policy.microbatches = in(1, 3);
  policy.every_microbatch = in(0, 1) != 0;
  policy.bucket_bytes = in(1, 2000);
  policy.first_bucket_bytes = in(1, 500);
  policy.bucket_elements = in(0, 1) * in(1, 200);
  policy.overlap = in(0, 1) != 0;
  policy.param_alignment = policy.bucket_alignment = 1;
  policy.zero = {in(1, 900), in(1, 900), in(0, 1) * in(0, 400), in(0, 1) * 20, in(0, 900), in(0, 1) * 900};
  policy.sharding = static_cast<FsdpSharding>(in(0, 2));
  policy.recompute = in(0, 1) != 0;
  return policy;
}

}  // namespace

class SyncExecutionTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void policies_train_like_one_rank_data();
  void policies_train_like_one_rank();
  void frozen_parameters_are_only_gathered_data();
  void frozen_parameters_are_only_gathered();
  void experts_train_like_one_rank_data();
  void experts_train_like_one_rank();
};

void SyncExecutionTest::policies_train_like_one_rank_data() {
  QTest::addColumn<int>("strategy");
  const std::array names{
      "ddp-flat", "ddp-buckets", "distributed-optimizer", "zero-0", "zero-1", "zero-2", "zero-3",
      "fsdp1",    "fsdp2",       "megatron-fsdp"};
  for (size_t i = 0; i < names.size(); ++i) QTest::newRow(names[i]) << static_cast<int>(i);
}

void SyncExecutionTest::policies_train_like_one_rank() {
  QFETCH(int, strategy);
  std::mt19937 random(31);
  const auto in = [&](int64_t lo, int64_t hi) {
    return std::uniform_int_distribution<int64_t>(lo, hi)(random);
  };
  for (int round = 0; round < 40; ++round) {
    const bool chunks = !is_deepspeed(static_cast<SyncStrategy>(strategy)) && in(0, 1) != 0;
    SyncInput input = tiny(in(2, 5), in(0, 1) != 0, chunks);
    const SyncPolicy policy = tiny_policy(static_cast<SyncStrategy>(strategy), in);
    const bool shards = shards_in_groups(policy.strategy) &&
                        (!is_fsdp(policy.strategy) || policy.sharding != FsdpSharding::NoShard);
    if (shards && in(0, 1) != 0) {
      input.groups.front().across = "copies";
      input.groups.front().across_size = in(2, 3);
      input.groups.front().both = "all";
    }
    Job job(input, {neighbours(input.groups.front())}, policy, static_cast<unsigned>(round));
    for (int step = 0; step < 2; ++step)
      QVERIFY2(job.step(), qPrintable(QString("round %1, step %2").arg(round).arg(step)));
  }
}

void SyncExecutionTest::frozen_parameters_are_only_gathered_data() {
  QTest::addColumn<int>("strategy");
  for (const auto& [name, strategy] : {std::pair{"zero-3", SyncStrategy::Zero3},
                                       {"fsdp1", SyncStrategy::Fsdp1},
                                       {"fsdp2", SyncStrategy::Fsdp2}})
    QTest::newRow(name) << static_cast<int>(strategy);
}

// Ranks store shards of frozen parameters, and compute with whole ones.
void SyncExecutionTest::frozen_parameters_are_only_gathered() {
  QFETCH(int, strategy);
  std::mt19937 random(32);
  const auto in = [&](int64_t lo, int64_t hi) {
    return std::uniform_int_distribution<int64_t>(lo, hi)(random);
  };
  for (int round = 0; round < 40; ++round) {
    SyncInput input = tiny(in(2, 5), false, false);
    for (SyncParam& p : input.params) p.frozen = in(0, 3) != 0;
    SyncPolicy policy = tiny_policy(static_cast<SyncStrategy>(strategy), in);
    if (policy.sharding == FsdpSharding::NoShard) policy.sharding = FsdpSharding::FullShard;
    const auto plan = std::get<SyncPlan>(plan_sync(input, policy));
    std::set<int> gathered;
    for (const SyncAction& a : plan.actions)
      for (const SyncPart& part : a.parts) {
        if (a.op == CollectiveKind::AllGather)
          gathered.insert(part.param);
        else
          QVERIFY(!input.params[static_cast<size_t>(part.param)].frozen);
      }
    QCOMPARE(gathered.size(), input.params.size());
    Job job(input, {neighbours(input.groups.front())}, policy, static_cast<unsigned>(round));
    for (int step = 0; step < 2; ++step)
      QVERIFY2(job.step(), qPrintable(QString("round %1, step %2").arg(round).arg(step)));
  }
}

// Experts on a mesh of their own: who holds what follows from the design's mesh, as in reports and traces.
void SyncExecutionTest::experts_train_like_one_rank_data() {
  QTest::addColumn<Design>("design");
  struct Degrees {
    const char* name;
    int64_t tp, cp, dp, ep, etp, shard;
    const char* order;
  };
  constexpr Degrees all[] = {{"one copy", 1, 1, 4, 2, 0, 0, "tp-cp-dp-pp"},
                             {"copies with one replica of an expert", 1, 1, 4, 2, 0, 2, "tp-cp-dp-pp"},
                             {"copies with two replicas of an expert", 1, 1, 8, 2, 0, 4, "tp-cp-dp-pp"},
                             {"copies, context parallel", 1, 2, 4, 2, 0, 2, "tp-cp-dp-pp"},
                             {"copies of one sample, context parallel", 1, 2, 4, 2, 0, 1, "tp-cp-dp-pp"},
                             {"folded", 2, 1, 4, 2, 1, 0, "tp-cp-dp-pp"},
                             {"copies, folded", 2, 1, 4, 2, 1, 2, "tp-cp-dp-pp"},
                             {"copies, folded, ep 1", 2, 1, 4, 1, 1, 2, "tp-cp-dp-pp"},
                             {"copies, replicas before context parallel", 1, 2, 4, 2, 0, 2, "tp-dp-cp-pp"},
                             {"copies, folded, replicas first", 2, 1, 8, 4, 1, 2, "dp-tp-cp-pp"}};
  for (const Degrees& degrees : all)
    for (const SyncStrategy sync :
         {SyncStrategy::DdpFlat, SyncStrategy::DdpBuckets, SyncStrategy::DistributedOptimizer,
          SyncStrategy::Zero1, SyncStrategy::Zero2, SyncStrategy::Zero3, SyncStrategy::Fsdp1,
          SyncStrategy::Fsdp2, SyncStrategy::MegatronFsdp}) {
      if (degrees.shard > 0 && !shards_in_groups(sync)) continue;
      Design d = tiny_design("mixtral-8x7b", degrees.dp);
      d.model.experts = 4;
      d.model.expert_ffn = 6;
      d.parallel.tp = degrees.tp;
      d.parallel.sequence_parallel = degrees.tp > 1;
      d.parallel.cp = degrees.cp;
      d.parallel.ep = degrees.ep;
      d.parallel.etp = degrees.etp;
      d.parallel.dp_shard = degrees.shard;
      d.parallel.sync = sync;
      parse_rank_order(degrees.order, d.parallel.order);
      QTest::addRow("%s: %s", knob_text(d, *find_knob("sync")).c_str(), degrees.name) << d;
    }
}

void SyncExecutionTest::experts_train_like_one_rank() {
  QFETCH(Design, design);
  const auto report = trace_report(design);
  const DeviceMesh mesh = device_mesh(design);
  const SyncInput input = sync_input(report->graph(), report->stages.front().binding, true, true, {{0, 0}});
  std::vector<Members> members;
  for (const ReplicaGroup& group : replica_groups(report->graph())) {
    Members& of = members.emplace_back();
    for (int64_t r = 0; r < mesh.ranks(); ++r) {
      of.replicas.push_back(mesh.group(r, group.axes));
      std::sort(of.replicas.back().begin(), of.replicas.back().end());
      of.shard.push_back(mesh.group(r, group.shard));
      of.across.push_back(mesh.group(r, group.across));
    }
  }
  QCOMPARE(members.size(), size_t{2});
  std::mt19937 random(31);
  const auto in = [&](int64_t lo, int64_t hi) {
    return std::uniform_int_distribution<int64_t>(lo, hi)(random);
  };
  for (int round = 0; round < 8; ++round) {
    SyncPolicy policy = tiny_policy(design.parallel.sync, in);
    if (design.parallel.dp_shard > 0) policy.sharding = static_cast<FsdpSharding>(in(0, 1));
    Job job(input, members, policy, static_cast<unsigned>(round));
    for (int step = 0; step < 2; ++step)
      QVERIFY2(job.step(), qPrintable(QString("round %1, step %2").arg(round).arg(step)));
  }
}

QTEST_APPLESS_MAIN(SyncExecutionTest)
#include "sync_execution_test.moc"
