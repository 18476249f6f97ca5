#include "bundle/node_rules.h"

#include <charconv>
#include <limits>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "astra_sim/nanoseconds.h"
#include "chakra/trace_reader.h"

namespace shardscape {
namespace {

using namespace chakra;

constexpr int64_t kTagModulus = 500'000'000;  // ASTRA-sim takes tags modulo this

// Assigns slots to numbers in order of first use.
class Slots {
 public:
  explicit Slots(std::vector<int64_t>& values) : values_(values) {}
  // Returns true if the value is new.
  bool find(int64_t value, uint32_t& slot) {
    const auto [it, fresh] = index_.try_emplace(value, static_cast<uint32_t>(values_.size()));
    if (fresh) values_.push_back(value);
    slot = it->second;
    return fresh;
  }

 private:
  std::vector<int64_t>& values_;
  std::unordered_map<int64_t, uint32_t> index_;
};

// The kind of value that both the old and the new feeder of ASTRA-sim read.
uint32_t common_kind(Attr attr) {
  switch (attr) {
    case Attr::IsCpuOp: return attr_field::kBool;
    case Attr::NumOps:
    case Attr::CommType:
    case Attr::CommSize: return attr_field::kInt64;
    case Attr::TensorSize: return attr_field::kUint64;
    case Attr::PgName: return attr_field::kString;
    case Attr::InvolvedDim: return attr_field::kBoolList;
    case Attr::Inputs:
    case Attr::Outputs: return attr_field::kStringList;
    case Attr::CommSrc:
    case Attr::CommDst:
    case Attr::CommTag:
    case Attr::CommPriority: return attr_field::kInt32;
  }
  return attr_field::kInt32;
}

class FileReader {
 public:
  FileReader(const FileContext& context, TraceShape& shape, RankTrace& trace, Findings& findings)
      : context_(context),
        shape_(shape),
        trace_(trace),
        findings_(findings),
        groups_(trace.groups),
        peers_(trace.peers) {}

  void read(std::string_view file) {
    if (file.empty()) return error("NO_METADATA", "the file is empty; it must start with a GlobalMetadata");
    TraceReader reader(file);
    std::string version;
    if (!reader.is_simulated())
      error("SCHEMA",
            "the file is " + reader.form() + "; simulators read binary traces of Chakra 0.0.4 and 1.0");
    if (!reader.read_metadata(version)) return error("NO_METADATA", reader.problem());
    for (;;) {
      const TraceReader::Step step = reader.next(node_);
      if (step == TraceReader::Step::Bad) {
        node_.id = 0;
        findings_.error("PARSE", context_.rank, -1, reader.problem());
        break;
      }
      if (step == TraceReader::Step::End) break;
      if (context_.stop.stop_requested()) return;
      add_node();
    }
    if (shape_.nodes.empty()) return error("NO_NODES", "the file has no node");
    shape_.group_slots = static_cast<uint32_t>(trace_.groups.size());
    shape_.peer_slots = static_cast<uint32_t>(trace_.peers.size());
    trace_.readable = true;
  }

 private:
  void error(const char* code, const std::string& message) {
    findings_.error(code, context_.rank, -1, message);
  }
  int64_t id() const { return static_cast<int64_t>(node_.id); }
  std::string called() const {
    return std::string(node_type_name(out_.type)) + " \"" + std::string(node_.name) + "\": ";
  }
  void node_error(const char* code, const std::string& message) {
    findings_.error(code, context_.rank, id(), called() + message);
  }
  void node_warning(const char* code, const std::string& message) {
    findings_.warning(code, context_.rank, id(), called() + message);
  }

  void add_node() {
    out_ = {};
    out_.id = node_.id;
    out_.deps = static_cast<uint32_t>(shape_.deps.size());
    out_.dep_count = static_cast<uint32_t>(node_.ctrl_deps.size() + node_.data_deps.size());
    for (const auto* deps : {&node_.ctrl_deps, &node_.data_deps})
      shape_.deps.insert(shape_.deps.end(), deps->begin(), deps->end());
    if (node_.type < 0 || node_.type >= kNodeTypeCount) {
      findings_.error("NODE_TYPE", context_.rank, id(),
                      "node type " + std::to_string(node_.type) + " is not known");
    } else {
      out_.type = static_cast<NodeType>(node_.type);
      check_attributes();
      check_type();
    }
    shape_.nodes.push_back(out_);
  }

  void check_attributes() {
    for (int a = 0; a < kAttrCount; ++a) {
      const auto attr = static_cast<Attr>(a);
      const AttrValue& value = node_.attr(attr);
      if (!value.present) continue;
      if (value.repeated)
        node_warning("ATTR_REPEATED",
                     std::string(attr_name(attr)) + " occurs twice; the first value applies");
      const uint32_t common = common_kind(attr);
      // STAGE writes an empty list of tensors as an attribute without a value.
      const bool empty_list = value.kind == 0 && common == attr_field::kStringList;
      if (value.kind == common || empty_list) continue;
      const bool integer = common != attr_field::kString && common != attr_field::kBoolList &&
                           common != attr_field::kStringList;
      const std::string kinds = std::string(attr_name(attr)) + " is " +
                                std::string(attr_kind_name(value.kind)) + "; ";
      if (integer && value.is_integer())
        node_warning("ATTR_UNUSUAL_KIND",
                     kinds + "old readers expect " + std::string(attr_kind_name(common)));
      else
        node_error("ATTR_KIND", kinds + "the kind must be " + std::string(attr_kind_name(common)));
    }
    check_tensors(Attr::Inputs);
    check_tensors(Attr::Outputs);
  }

  void check_tensors(Attr attr) {
    const AttrValue& value = node_.attr(attr);
    if (!value.present) {
      if (context_.config.track_local_mem)
        node_error("ATTR_MISSING",
                   std::string(attr_name(attr)) + " is missing, but system.json has track-local-mem on");
      return;
    }
    const std::vector<std::string_view>& strings = attr == Attr::Inputs ? node_.inputs : node_.outputs;
    if (strings.size() % 2 != 0)
      return node_error("TENSOR_LIST", std::string(attr_name(attr)) + " must alternate names and bytes");
    for (size_t i = 0; i < strings.size(); i += 2) {
      uint64_t bytes = 0;
      const std::string_view text = strings[i + 1];
      const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), bytes);
      // The simulator reads the digits at the beginning. STAGE writes "524288.0".
      const std::string_view rest(end, static_cast<size_t>(text.data() + text.size() - end));
      const bool zeros = rest.starts_with('.') && rest.find_first_not_of('0', 1) == std::string_view::npos;
      if (status != std::errc() || (!rest.empty() && !zeros))
        node_error("TENSOR_LIST",
                   std::string(attr_name(attr)) + ": \"" + std::string(text) + "\" is not a number of bytes");
      else if (attr == Attr::Outputs && bytes != 0 && !written_.insert(std::string(strings[i])).second)
        node_error("TENSOR_WRITTEN_TWICE",
                   "the tensor " + std::string(strings[i]) + " is already written by another node");
    }
  }

  // The value if it is at least `least`, otherwise nothing. check_attributes reports wrong kinds.
  std::optional<int64_t> integer(Attr attr, bool required, int64_t least) {
    const AttrValue& value = node_.attr(attr);
    if (!value.present) {
      if (required) node_error("ATTR_MISSING", std::string(attr_name(attr)) + " is missing");
      return std::nullopt;
    }
    if (!value.is_integer()) return std::nullopt;
    if (value.integer >= least) return value.integer;
    node_error("ATTR_RANGE", std::string(attr_name(attr)) + " = " + std::to_string(value.integer) +
                                 "; the value must be at least " + std::to_string(least));
    return std::nullopt;
  }

  void check_type() {
    const AttrValue& cpu = node_.attr(Attr::IsCpuOp);
    const bool on_cpu = cpu.present && cpu.is_integer() && cpu.integer != 0;
    switch (out_.type) {
      case NodeType::Comp:
        out_.nanoseconds = replayed();
        if (on_cpu)
          node_warning(
              "CPU_OP",
              "is_cpu_op is true: the node runs for duration_micros and the simulator's statistics fail");
        else
          check_compute();
        break;
      case NodeType::Coll:
      case NodeType::Send:
      case NodeType::Recv:
        if (on_cpu) node_error("CPU_OP", "communication cannot have is_cpu_op true");
        if (out_.type == NodeType::Coll)
          check_collective();
        else
          check_transfer();
        break;
      case NodeType::MemLoad:
      case NodeType::MemStore:
        if (const auto bytes = integer(Attr::TensorSize, true, 1); bytes && context_.config.memory_gbps > 0)
          out_.nanoseconds = add_ns(whole_ns(context_.config.memory_latency),
                                    whole_ns(static_cast<double>(*bytes) / context_.config.memory_gbps));
        if (!context_.config.memory_expansion)
          node_error("MEMORY_NODE", "remote memory ends the run under NO_MEMORY_EXPANSION");
        break;
      case NodeType::Invalid:
      case NodeType::Metadata:
        node_error("NODE_TYPE", "the simulator aborts, or never runs the nodes that depend on this node");
    }
  }

  // Nanoseconds of a replayed node: its duration, at least 1.
  int64_t replayed() const {
    constexpr int64_t kNsPerMicrosecond = 1000,
                      kLongest = std::numeric_limits<int64_t>::max() / kNsPerMicrosecond;
    return node_.duration == 0
               ? 1
               : static_cast<int64_t>(std::min<uint64_t>(node_.duration, kLongest)) * kNsPerMicrosecond;
  }

  void check_compute() {
    if (!context_.config.roofline) return;
    const auto ops = integer(Attr::NumOps, true, 1), bytes = integer(Attr::TensorSize, true, 1);
    const double peak = context_.config.peak_flops, bandwidth = context_.config.memory_bytes_per_second;
    if (!ops || !bytes || peak <= 0 || bandwidth <= 0) return;
    // In the order of the simulator's operations, which drop fractions of a nanosecond.
    constexpr double kNsPerSecond = 1e9;
    const double flops = static_cast<double>(*ops),
                 rate = std::min(bandwidth * (flops / static_cast<double>(*bytes)), peak);
    out_.nanoseconds = static_cast<int64_t>(std::min(flops / rate * kNsPerSecond, 9e18));
    if (out_.nanoseconds < 1 && node_.is_root())
      node_error("ROOT_TOO_SHORT",
                 std::to_string(*ops) + " ops and " + std::to_string(*bytes) +
                     " bytes take under 1 ns; at the start of a run the simulator's event queue asserts");
  }

  // The id of the group that the collective names, 0 for all ranks; nothing if the name is invalid.
  std::optional<int64_t> group() {
    const AttrValue& name = node_.attr(Attr::PgName);
    if (!name.present) return 0;
    if (name.kind != attr_field::kString) return std::nullopt;
    if (name.text.empty()) return 0;
    int64_t id = 0;
    const auto [end, status] = std::from_chars(name.text.data(), name.text.data() + name.text.size(), id);
    if (status == std::errc() && end == name.text.data() + name.text.size() && id >= 0 &&
        id <= std::numeric_limits<int32_t>::max())
      return id;
    node_error("GROUP_NAME",
               "pg_name \"" + std::string(name.text) + "\" is not an integer from 0 to 2147483647");
    return std::nullopt;
  }

  bool group_usable(int64_t group) {
    if (group == 0) {
      if (context_.ranks > 1) return true;
      node_error("GROUP_OF_ONE", "a collective over a world of one rank never completes");
      return false;
    }
    const auto it = context_.config.groups.find(group);
    const std::string name = "group " + std::to_string(group);
    if (it == context_.config.groups.end()) {
      node_error("GROUP_UNKNOWN", name + " is not in comm_groups.json");
      return false;
    }
    if (!context_.config.is_member(group, context_.rank)) {
      node_error("NOT_A_MEMBER", "rank " + std::to_string(context_.rank) + " is not in " + name);
      return false;
    }
    if (it->second.size() > 1) return true;
    node_error("GROUP_OF_ONE", "a collective over " + name + " of one member never completes");
    return false;
  }

  void check_collective() {
    const auto type = integer(Attr::CommType, true, 0);
    const auto size = integer(Attr::CommSize, true, 1);
    std::optional<CollectiveType> known;
    if (type && *type < kCollectiveTypeCount) known = static_cast<CollectiveType>(*type);
    const bool supported = known && (implementation_index(*known) || *known == CollectiveType::Broadcast);
    if (type && !supported)
      node_error("COLLECTIVE_TYPE",
                 "comm_type " + (known ? std::string(collective_type_name(*known)) : std::to_string(*type)) +
                     " is not simulated; the simulator supports ALL_REDUCE, ALL_GATHER, ALL_TO_ALL and "
                     "REDUCE_SCATTER");
    if (supported) out_.collective = known;
    out_.nanoseconds = out_.collective == CollectiveType::Broadcast ? replayed() : 0;
    if (supported && out_.collective == CollectiveType::Broadcast)
      node_warning("BROADCAST", "the simulator replays a broadcast locally and sends nothing");
    if (supported && size && out_.collective == CollectiveType::AllGather &&
        *size < context_.config.dataset_splits)
      node_error("ALL_GATHER_SMALL",
                 "comm_size " + std::to_string(*size) + " is below preferred-dataset-splits " +
                     std::to_string(context_.config.dataset_splits) + ": the simulator never ends");
    if (node_.is_root() && context_.config.endpoint_delay == 0)
      node_error("ROOT_AT_ZERO",
                 "a run that starts with a collective needs an endpoint-delay above 0 in system.json: the "
                 "simulator's event queue asserts at time 0");
    const auto name = group();
    if (name == 0 && node_.attr(Attr::InvolvedDim).kind == attr_field::kBoolList &&
        !node_.attr(Attr::InvolvedDim).any_true)
      node_error("INVOLVED_DIM", "involved_dim has no true entry: the collective never completes");
    if (!name || !supported || !size) return;
    uint32_t slot = 0;
    if (groups_.find(*name, slot)) group_good_.push_back(group_usable(*name));
    if (!group_good_[slot]) return;
    out_.slot = slot;
    out_.size = *size;
  }

  void check_transfer() {
    const bool send = out_.type == NodeType::Send;
    const Attr own = send ? Attr::CommSrc : Attr::CommDst, other = send ? Attr::CommDst : Attr::CommSrc;
    const auto size = integer(Attr::CommSize, true, 1);
    const auto tag = integer(Attr::CommTag, true, 0);
    const auto peer = integer(other, true, std::numeric_limits<int64_t>::min());
    const auto self = integer(own, false, std::numeric_limits<int64_t>::min());
    if (self && *self != context_.rank)
      node_error("OWN_RANK", std::string(attr_name(own)) + " = " + std::to_string(*self) +
                                 " in the trace of rank " + std::to_string(context_.rank));
    if (tag && *tag >= kTagModulus)
      node_warning("TAG_LARGE",
                   "comm_tag " + std::to_string(*tag) + " is taken modulo " + std::to_string(kTagModulus));
    if (peer && *peer == context_.rank) {
      node_error("SELF_SEND", std::string(attr_name(other)) + " is the rank itself");
    } else if (peer && (*peer < 0 || *peer >= context_.ranks)) {
      node_error("PEER_RANGE", std::string(attr_name(other)) + " = " + std::to_string(*peer) +
                                   " is not one of the ranks 0.." + std::to_string(context_.ranks - 1));
    } else if (peer && size && tag) {
      uint32_t slot = 0;
      peers_.find(*peer, slot);
      out_.slot = slot;
      out_.size = *size;
      out_.tag = static_cast<int32_t>(*tag % kTagModulus);
    }
  }

  const FileContext& context_;
  TraceShape& shape_;
  RankTrace& trace_;
  Findings& findings_;
  Slots groups_, peers_;
  std::vector<bool> group_good_;
  std::unordered_set<std::string> written_;
  RawNode node_;
  ShapeNode out_;
};

}  // namespace

void read_trace(std::string_view file, const FileContext& context, TraceShape& shape, RankTrace& trace,
                Findings& findings) {
  shape = {};
  trace.groups.clear();
  trace.peers.clear();
  FileReader(context, shape, trace, findings).read(file);
}

}  // namespace shardscape
