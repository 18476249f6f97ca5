#include "bundle/manifest.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "astra_sim/config_files.h"
#include "base/data_dir.h"
#include "base/json_text.h"
#include "base/version.h"
#include "bundle/bundle_files.h"
#include "chakra/digest.h"
#include "design/document.h"
#include "grad_sync/sync_plan.h"
#include "timing/machine_of.h"

namespace shardscape {
namespace {

constexpr const char* kManifestFormat = "shardscape-bundle";
constexpr int kManifestVersion = 1;

// Ranks as runs [first, last, step]: for the usual rank orders, a stage's ranks are one run.
nlohmann::ordered_json runs_of(const std::vector<int64_t>& ranks) {
  nlohmann::ordered_json runs = nlohmann::ordered_json::array();
  for (size_t i = 0; i < ranks.size();) {
    const int64_t step = i + 1 < ranks.size() ? ranks[i + 1] - ranks[i] : 1;
    size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] - ranks[last] == step) ++last;
    runs.push_back({ranks[i], ranks[last], step});
    i = last + 1;
  }
  return runs;
}

// Of every bundle.
nlohmann::ordered_json general_notes(const ExportOptions& options) {
  return nlohmann::ordered_json::array({
      "Compute nodes have the counted FLOPs of one rank as num_ops (at least 1), and the bytes that their "
      "kernel reads and writes as tensor_size (at least 1; 16 KiB in the first compute node of a rank). "
      "Where one kernel computes several nodes, one of "
      "these nodes has the bytes.",
      options.durations
          ? "Durations of compute nodes are the predicted seconds of their kernels on the machine of the "
            "design, in whole microseconds, rounded so that sums are right. ASTRA-sim replays the durations "
            "if roofline-enabled is 0."
          : "No durations are written.",
      "comm_size of an all-gather is the rank's own shard; of a reduce-scatter, an all-reduce or an "
      "all-to-all the whole local buffer.",
      "Collectives over a single rank are omitted. Simulators have no rooted reduction, so the reductions "
      "of ZeRO-2 are written as reduce-scatters of the same buffer.",
      "All collectives, sends and receives of a rank form one chain of dependencies in program order; the "
      "first compute node of an action follows the last compute node of the previous action.",
      "Gradients accumulate in the weight-gradient nodes; the reductions and the optimizer follow the last "
      "microbatch. Buckets and FSDP units are reduced as soon as the backward of the last microbatch has "
      "computed their gradients.",
      "comm_tag is 2·microbatch for activations and 2·microbatch + 1 for gradients.",
      "The dimensions of network.yml are the ranks of a scale-up domain, the domains of a pod and the pods, "
      "each only if the job has more than one. Rates are the nominal rates of a rank's links. The latency of "
      "a switch is half the latency of a message between two ranks, because ASTRA-sim charges it twice.",
      "peak-perf and local-mem-bw of system.json are the accelerator's dense peak in the storage type and "
      "its memory bandwidth.",
      "Digests: poly61 of a file is the sum over its 32-bit little-endian words w[k] of w[k]·C^k modulo "
      "2^61 - 1; the digest of a class folds the digests and sizes of its files in rank order.",
  });
}

nlohmann::ordered_json notes_of(const Report& report, const ExportOptions& options) {
  nlohmann::ordered_json notes = general_notes(options);
  const Structure& s = report.graph().structure;
  if (!s.trains())
    notes.push_back(
        "Inference: forwards only, no gradients. KV caches stay on the device; tensor_size of attention "
        "includes the bytes read from the cache, tensor_size of a cache write has the bytes added.");
  if (is_fsdp(s.sync))
    notes.push_back(std::string("FSDP: a layer's parameters are gathered before its forward ") +
                    (s.stays_after_backward
                         ? "unless they are still gathered, and again before its backward if a forward has "
                           "freed them; only the last backward of a stage frees them"
                     : s.reshards ? "and again before its backward, at most one layer ahead"
                                  : "and stay gathered until its backward") +
                    "; embedding and head are gathered together, and reduced after the last backward.");
  if (s.sync == SyncStrategy::Zero3)
    notes.push_back(
        "ZeRO-3: the gathers of the modules of a layer, prefetches included, are issued before the layer.");
  if (options.durations)
    notes.push_back(
        options.launches
            ? "Durations include waits for the host where it launches kernels more slowly than they run."
            : "Durations exclude launches by the host.");
  if (is_quantized(report.graph().structure.compute))
    notes.push_back("Ops in " + std::string(dtype_name(report.graph().structure.compute)) +
                    (options.durations
                         ? " have their counted FLOPs as num_ops."
                         : " have num_ops in FLOPs of peak-perf in system.json, the peak of the storage "
                           "type: counted FLOPs, "
                           "multiplied by this peak and divided by the peak of their own type.") +
                    " Bytes of tensors include their scales.");
  if (uses_host(report))
    notes.push_back(
        "Offload: memory nodes copy tensor_size bytes between a device and its host. They belong to the "
        "chain of communication nodes. memory.json assumes " +
        std::to_string(static_cast<int>(machine_of(report.design).host_gbps)) + " GB/s and " +
        std::to_string(static_cast<int>(kHostLatencyNs)) +
        " ns for every rank. The optimizer step on the host takes no time in the trace.");
  if (report.graph().structure.ring)
    notes.push_back(
        "Ring attention: each step sends a block of K and V to the next rank of the ring and receives a "
        "block from the previous rank, between the compute nodes of the ring's steps; comm_tag counts the "
        "messages of a ring.");
  if (options.granularity != Granularity::Op)
    notes.push_back("Granularity " + std::string(granularity_name(options.granularity)) +
                    ": a compute node has the sums over its ops, at most one node per " +
                    granularity_unit(options.granularity) +
                    " where no communication comes between. Communication waits for the same compute, and "
                    "compute for the same communication, as with granularity op. A roofline takes the larger "
                    "of the summed times of FLOPs and of bytes, so coarser nodes may take less time.");
  if (options.steps > 1)
    notes.push_back(
        "Several steps: a rank begins a step when all its nodes of the step before have ended. "
        "Microbatches are numbered on from step to step.");
  if (!options.part.whole())
    notes.push_back(
        "A part: traces of some ranks. Groups, network and the ranks of messages are those of the "
        "whole job.");
  if (report.ranks == 1)
    notes.push_back("ASTRA-sim needs at least 2 ranks: it cannot run this bundle of one rank.");
  return notes;
}

void add_window(const StepWindow& window, nlohmann::ordered_json& j) {
  for (const char* note :
       {"A window of engine steps: each step is one forward over its chunks of prompts and its generated "
        "tokens. Nodes of a step have its number. The design is that of one of the steps.",
        "Kernels other than attention run once over all tokens of a step: as in a prompt of so many tokens, "
        "or in decode with the padding of a recorded graph. The head runs on the sequences that sample a "
        "token.",
        "Attention has the work of all sequences of the step: of a chunk of q tokens after c others, that of "
        "a prompt of c + q tokens less that of c tokens, and of decode at the mean context.",
        "The seconds of compute nodes add up to those of the step in the simulated run, by kind of kernel "
        "(attention, head, others), less predicted communication. The node \"host\" of the first stage has "
        "the rest of the step and the time to the next step."})
    j["notes"].push_back(note);
  nlohmann::ordered_json& steps = j["steps"];
  for (const WindowStep& step : window.steps())
    steps.push_back({{"replica", window.replica()},
                     {"step", step.number},
                     {"begin_seconds", step.begin},
                     {"seconds", step.seconds},
                     {"host_seconds", step.host_seconds},
                     {"prefill_tokens", step.prefill_tokens},
                     {"decode_sequences", step.decode_sequences}});
}

nlohmann::ordered_json cluster_of(const Report& report, const SimCluster& cluster,
                                  const std::vector<PacketNetwork>& packets) {
  nlohmann::ordered_json j;
  j["accelerator"] = report.accelerator->name;
  j["network"] = machine_of(report.design).network.name;
  j["dimensions"] = nlohmann::ordered_json::array();
  for (const SimDimension& d : cluster.dimensions)
    j["dimensions"].push_back(
        {{"topology", d.topology}, {"ranks", d.ranks}, {"gbps", d.gbps}, {"latency_ns", d.latency_ns}});
  j["nearest"] = cluster.substitutions;
  for (const PacketNetwork& network : packets) {
    nlohmann::ordered_json& entry = j["packet_networks"][std::string(backend_name(network.backend))];
    for (const PacketFile& file : network.files) entry["files"].push_back(file.name);
    entry["nearest"] = network.substitutions;
  }
  return j;
}

// ring: classes have a position in a ring.
void put_totals(nlohmann::ordered_json& j, const TraceTotals& totals, bool ring) {
  j["nodes"] = totals.nodes;
  j["collectives"] = totals.collectives;
  j["sends"] = totals.sends;
  j["bytes"] = totals.bytes;
  j["classes"] = nlohmann::ordered_json::array();
  for (const FileClass& c : totals.classes) {
    nlohmann::ordered_json entry;
    entry["stage"] = c.stage;
    if (ring) entry["ring_position"] = c.position;
    entry["ranks"] = c.ranks.size();
    entry["rank_runs"] = runs_of(c.ranks);
    entry["nodes_per_rank"] = c.nodes;
    entry["collectives_per_rank"] = c.collectives;
    entry["sends_per_rank"] = c.sends;
    entry["bytes"] = c.bytes;
    entry["digest"] = poly61_text(c.digest);
    j["classes"].push_back(std::move(entry));
  }
}

}  // namespace

std::string manifest_json(const Report& report, const ExportOptions& options, const SimCluster& cluster,
                          const std::vector<PacketNetwork>& packets, const TraceTotals& totals,
                          const StepWindow* window) {
  nlohmann::ordered_json j;
  j["format"] = kManifestFormat;
  j["format_version"] = kManifestVersion;
  j["program"] = "shardscape";
  j["program_version"] = program_version();
  j["traces"] = options.name + ".<rank>.et";
  j["schema"] = "MLCommons Chakra 1.0";
  j["tensors"] = options.tensors;
  j["durations"] = options.durations;
  j["granularity"] = granularity_name(options.granularity);
  if (!window) j["steps_per_trace"] = options.steps;
  j["ranks"] = report.ranks;
  if (!options.part.whole()) j["ranks_here"] = totals.ranks;
  put_totals(j, totals, report.ring_position.has_value());
  j["cluster"] = cluster_of(report, cluster, packets);
  j["notes"] = notes_of(report, options);
  if (window) add_window(*window, j);
  j["design"] = nlohmann::ordered_json::parse(to_json(report.design));
  return json_document(j);
}

std::string manifest_of_part(const std::string& manifest, const TraceTotals& totals) {
  nlohmann::ordered_json j;
  if (const auto mistake = parse_json(manifest, j)) throw std::invalid_argument(mistake->what);
  j["ranks_here"] = totals.ranks;
  const auto& classes = j.at("classes");
  put_totals(j, totals, !classes.empty() && classes.at(0).contains("ring_position"));
  return json_document(j);
}

std::optional<Manifest> read_manifest(const std::filesystem::path& bundle, int64_t traces) {
  const auto text = read_text(bundle / kManifestName);
  if (!std::holds_alternative<std::string>(text)) return std::nullopt;
  nlohmann::json j;
  if (parse_json(std::get<std::string>(text), j) || !j.is_object() ||
      j.value("format", nlohmann::json()) != kManifestFormat)
    return std::nullopt;
  Manifest manifest;
  int64_t listed = 0;
  try {
    manifest.ranks = integer_of(j.at("ranks"));
    manifest.part = j.contains("ranks_here");
    for (const auto& entry : j.at("classes")) {
      ManifestClass& c = manifest.classes.emplace_back();
      c.digest = entry.at("digest").get<std::string>();
      for (const auto& run : entry.at("rank_runs")) {
        const int64_t first = integer_of(run.at(0)), last = integer_of(run.at(1)),
                      step = integer_of(run.at(2));
        // A damaged run must not make a check allocate without bound.
        if (first < 0 || last >= manifest.ranks || step < 1) return std::nullopt;
        for (int64_t rank = first; rank <= last; rank += step) {
          if (++listed > traces + 1) return manifest;
          c.ranks.push_back(rank);
          if (rank >= traces || step > last - rank) break;
        }
      }
    }
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
  return manifest;
}

}  // namespace shardscape
