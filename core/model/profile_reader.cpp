#include "model/profile_reader.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/shown_text.h"

namespace shardscape {

using json = nlohmann::ordered_json;

namespace {

KernelStat stat(const JsonFile& file, const json& entry) {
  file.only(entry, {"name", "over", "dtype", "copies", "when", "chunk", "last_axis", "replaces"});
  KernelStat out;
  out.name = file.text(entry, "name");
  out.over = file.text(entry, "over");
  const std::string type_name = file.text(entry, "dtype");
  if (type_name.size() == 9 && type_name.starts_with("operand ") && type_name[8] >= '0' &&
      type_name[8] <= '9')
    out.dtype_of = type_name[8] - '0';
  const auto type = out.dtype_of >= 0 ? DType::BF16 : dtype_from_name(type_name);
  if (!type)
    file.fail(ProblemCode::DataValue, out.name, "the dtype of \"" + out.name + "\" is not known",
              "bfloat16, float16, float32, int64, bool or operand 0, 1, ...");
  out.dtype = *type;
  out.copies = static_cast<int>(file.integer_or(entry, "copies", 1));
  out.when = file.text_or(entry, "when", "");
  static const std::set<std::string> conditions{
      "",        "dropout",         "b>1",     "grouped",    "alltoall", "allgather", "at_once", "by_node",
      "no ring", "local_experts>1", "channel", "delta rule", "unpadded"};
  bool known = true;
  for (size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
    end = out.when.find('&', begin);
    known = known && conditions.count(out.when.substr(begin, end - begin));
  }
  known = known || (out.when.starts_with("sharded:") && out.when.size() == 9);
  if (!known)
    file.fail(ProblemCode::DataValue, out.when, "\"when\" is \"" + out.when + "\"",
              "dropout, b>1, grouped, alltoall, allgather, at_once, by_node, unpadded, local_experts>1, "
              "no ring, channel, delta rule, several of them joined by &, or sharded: and a letter");
  out.chunk = file.integer_or(entry, "chunk", 0);
  if (out.chunk < 0)
    file.fail(ProblemCode::DataValue, "chunk", "\"chunk\" is " + std::to_string(out.chunk),
              "a number of tokens");
  if (const std::string axis = file.text_or(entry, "last_axis", ""); !axis.empty()) {
    out.last_axis = axis_from_name(axis);
    if (!out.last_axis)
      file.fail(ProblemCode::DataValue, "last_axis", "\"last_axis\" is \"" + axis + "\"",
                "the name of an axis, such as linear_chunk");
  }
  out.replaces = static_cast<int>(file.integer_or(entry, "replaces", -1));
  return out;
}

std::vector<int> operand_numbers(const JsonFile& file, const json& list) {
  constexpr int kMost = 100;  // far more operands than any op has
  std::vector<int> out;
  out.reserve(list.size());
  for (const json& number : list) {
    if (!number.is_number_integer() || number < 0 || number > kMost)
      JsonFile::fail(ProblemCode::DataValue, file.place(number),
                     "\"saves_inputs\" holds " + shortened(number.dump()),
                     "numbers of operands from 0: [0, 1]");
    out.push_back(number.get<int>());
  }
  return out;
}

KernelRule rule(const JsonFile& file, const json& value) {
  file.only(value, {"saves_inputs", "saves_output", "in_place", "float_result", "stats", "operands",
                    "backward_products", "flops", "backward_flops", "gradient", "forward_workspace",
                    "backward_workspace", "held_until", "kernel"});
  KernelRule out;
  if (value.contains("saves_inputs"))
    out.saves_inputs = operand_numbers(file, file.array(value, "saves_inputs"));
  out.saves_output = file.boolean_or(value, "saves_output", false);
  out.in_place = file.boolean_or(value, "in_place", false);
  out.float_result = file.boolean_or(value, "float_result", false);
  const std::string operands = file.text_or(value, "operands", "");
  if (operands == "whole")
    out.operands = KernelRule::Operands::Whole;
  else if (operands == "stream")
    out.operands = KernelRule::Operands::Stream;
  else if (!operands.empty())
    file.fail(ProblemCode::DataValue, "operands", "\"operands\" is \"" + operands + "\"", "whole or stream");
  out.backward_products = file.integer_or(value, "backward_products", 5);
  out.flops = file.integer_or(value, "flops", 0);
  out.backward_flops = file.integer_or(value, "backward_flops", 0);
  if (value.contains("stats"))
    for (const json& entry : file.array(value, "stats")) out.stats.push_back(stat(file, entry));
  for (const auto& [key, list] : {std::pair{"forward_workspace", &out.forward_workspace},
                                  {"backward_workspace", &out.backward_workspace}})
    if (value.contains(key))
      for (const json& entry : file.array(value, key)) list->push_back(stat(file, entry));
  out.kernel = file.text_or(value, "kernel", "");
  out.held_until = file.text_or(value, "held_until", "");
  const std::string gradient = file.text_or(value, "gradient", "fresh");
  if (gradient == "over_input")
    out.gradient = KernelRule::Gradient::OverInput;
  else if (gradient == "shared")
    out.gradient = KernelRule::Gradient::Shared;
  else if (gradient != "fresh")
    file.fail(ProblemCode::DataValue, "gradient", "\"gradient\" is \"" + gradient + "\"",
              "fresh, over_input or shared");
  return out;
}

constexpr double kMostLaunchMicroseconds = 10'000;

WeightGradient weight_gradient(const JsonFile& file, const std::string& text) {
  for (const auto& [word, value] : {std::pair{"fresh", WeightGradient::Fresh},
                                    {"none", WeightGradient::None},
                                    {"dummy", WeightGradient::Dummy},
                                    {"shared_dummy", WeightGradient::SharedDummy},
                                    {"until_pass_ends", WeightGradient::UntilPassEnds}})
    if (text == word) return value;
  file.fail(ProblemCode::DataValue, "weight_gradient", "\"weight_gradient\" is \"" + text + "\"",
            "fresh, none, dummy, shared_dummy or until_pass_ends");
}

constexpr double kMostSlowdown = 10;
constexpr int64_t kMostLaunches = 1'000;

std::array<double, 2> expert_bias(const JsonFile& file, const json& root) {
  const json& list = file.array(root, "expert_bias");
  if (list.size() != 2 || !std::all_of(list.begin(), list.end(),
                                       [](const json& v) { return v.is_number() && v.get<double>() >= 0; }))
    file.fail(ProblemCode::DataValue, "expert_bias", "\"expert_bias\" is " + list.dump(),
              "two numbers of bytes per element: forward, backward");
  return {list[0].get<double>(), list[1].get<double>()};
}

// Kernels that an op of a kind launches: {forward, backward}.
std::map<std::string, std::array<int64_t, 2>> launches(const JsonFile& file, const json& root) {
  std::map<std::string, std::array<int64_t, 2>> out;
  for (const auto& [kind, list] : file.object(root, "launches").items()) {
    if (!list.is_array() || list.size() != 2 || !std::all_of(list.begin(), list.end(), [](const json& v) {
          return v.is_number_integer() && v.get<int64_t>() >= 0 && v.get<int64_t>() <= kMostLaunches;
        }))
      file.fail(ProblemCode::DataValue, "launches", "\"launches\" of " + kind + " is " + list.dump(),
                "two numbers of kernels from 0 to 1,000: forward, backward");
    out[kind] = list.get<std::array<int64_t, 2>>();
  }
  return out;
}

// A list of op kinds with at least so many entries.
std::vector<std::string> kinds(const JsonFile& file, const char* key, const json& list, size_t least) {
  const bool texts = list.is_array() && list.size() >= least &&
                     std::all_of(list.begin(), list.end(), [](const json& kind) { return kind.is_string(); });
  if (!texts)
    JsonFile::fail(ProblemCode::DataValue, file.place(list),
                   "an entry of \"" + std::string(key) + "\" is " + shortened(list.dump()),
                   least > 1 ? "a list of two or more op kinds" : "a list of op kinds");
  return list.get<std::vector<std::string>>();
}

std::vector<std::vector<std::string>> kind_lists(const JsonFile& file, const json& root, const char* key,
                                                 size_t least) {
  std::vector<std::vector<std::string>> out;
  const json& lists = file.array(root, key);
  out.reserve(lists.size());
  for (const json& list : lists) out.push_back(kinds(file, key, list, least));
  return out;
}

// The profile that the members of `root` describe. file: for messages. A profile with a base may lack
// members.
KernelProfile profile_of(const JsonFile& file, const json& root) {
  const bool has_base = !file.text_or(root, "extends", "").empty();
  KernelProfile out;
  out.id = file.text(root, "profile");
  out.label = file.text_or(root, "label", out.id);
  out.source = file.text_or(root, "source", "");
  if (!has_base || root.contains("packed")) out.packed = kind_lists(file, root, "packed", 0);
  if (root.contains("fused")) out.fused = kind_lists(file, root, "fused", 2);
  if (root.contains("fused_results")) out.fused_results = kind_lists(file, root, "fused_results", 2);
  if (root.contains("merged")) out.merged = kind_lists(file, root, "merged", 1);
  if (root.contains("recomputes"))
    out.recomputes = kinds(file, "recomputes", file.array(root, "recomputes"), 0);
  if (root.contains("residual")) {
    out.residual = dtype_from_name(file.text(root, "residual"));
    if (!out.residual)
      file.fail(ProblemCode::DataValue, "residual", "the type of the residual stream is unknown",
                "bfloat16, float16 or float32");
  }
  if (root.contains("separate_experts"))
    out.separate_experts = file.boolean_or(root, "separate_experts", false);
  if (root.contains("expert_bias")) out.expert_bias = expert_bias(file, root);
  // One of the words, or nothing. `accepted` leaves out words of earlier files.
  const auto choice = [&](const char* key, const std::map<std::string, bool>& words, const char* accepted) {
    const std::string word = file.text_or(root, key, "");
    const auto known = words.find(word);
    if (!word.empty() && known == words.end())
      file.fail(ProblemCode::DataValue, key, "\"" + std::string(key) + "\" is \"" + word + "\"", accepted);
    return known != words.end() && known->second;
  };
  out.reduce_per_consumer = choice("reduce", {{"per_consumer", true}, {"summed", false}},
                                   "summed or per_consumer");
  out.saves_gathered = choice("gathered_inputs",
                              {{"saved", true}, {"regathered", false}, {"kept", true}, {"again", false}},
                              "saved or regathered");
  out.adds_gradients_at_once = choice("gradient_sums", {{"at_once", true}, {"one_by_one", false}},
                                      "at_once or one_by_one");
  out.weighs_activations = choice("weighs", {{"activations", true}, {"results", false}},
                                  "results or activations");
  out.sums_in_next_norm = choice("layer_sums", {{"next_norm", true}, {"own_kernel", false}},
                                 "own_kernel or next_norm");
  out.concurrent_shared_experts = choice("shared_experts", {{"concurrent", true}, {"in_turn", false}},
                                         "in_turn or concurrent");
  if (root.contains("slowdown")) {
    const json& factor = root["slowdown"];
    if (!factor.is_number() || factor.get<double>() < 1 || factor.get<double>() > kMostSlowdown)
      file.fail(ProblemCode::DataValue, "slowdown", "\"slowdown\" is " + factor.dump(),
                "a number from 1 to 10");
    out.slowdown = factor.get<double>();
  }
  if (root.contains("host_launch_us")) {
    const json& launch = root["host_launch_us"];
    if (!launch.is_number() || launch.get<double>() < 0 || launch.get<double>() > kMostLaunchMicroseconds)
      file.fail(ProblemCode::DataValue, "host_launch_us", "\"host_launch_us\" is " + launch.dump(),
                "a number of microseconds from 0 to 10,000");
    else
      out.host_launch_us = launch.get<double>();
  }
  if (root.contains("launches")) out.launches = launches(file, root);
  out.host_reads_routing = file.boolean_or(root, "host_reads_routing", false);
  out.host_waits_for_passes = choice("host", {{"waits_for_passes", true}, {"runs_ahead", false}},
                                     "runs_ahead or waits_for_passes");
  if (root.contains("weight_gradient"))
    out.weight_gradient = weight_gradient(file, file.text(root, "weight_gradient"));
  out.reducer_buckets = file.boolean_or(root, "reducer_buckets", false);
  if (!has_base || root.contains("ops"))
    for (const auto& [op, value] : file.object(root, "ops").items()) out.rules[op] = rule(file, value);
  return out;
}

// Adds the members of a base that the profile lacks, and the rules for ops that it lacks.
void inherit(json& root, const json& base) {
  for (const auto& [key, value] : base.items()) {
    if (key == "label" || key == "source") continue;
    if (key == "ops" && root.contains(key))
      for (const auto& [op, inherited] : value.items()) root[key].emplace(op, json(inherited));
    else
      root.emplace(key, json(value));
  }
}

}  // namespace

void ProfileReader::read(const JsonFile& file) {
  const json& root = file.root();
  file.only(root, {"profile",
                   "label",
                   "source",
                   "extends",
                   "packed",
                   "fused",
                   "fused_results",
                   "merged",
                   "layer_sums",
                   "shared_experts",
                   "recomputes",
                   "residual",
                   "reduce",
                   "weight_gradient",
                   "reducer_buckets",
                   "separate_experts",
                   "expert_bias",
                   "gathered_inputs",
                   "gradient_sums",
                   "weighs",
                   "slowdown",
                   "host",
                   "host_launch_us",
                   "launches",
                   "host_reads_routing",
                   "ops"});
  entries_.push_back({file, profile_of(file, root).id, file.text_or(root, "extends", "")});
}

const ProfileReader::Entry* ProfileReader::latest(const std::string& id) const {
  const auto it = std::find_if(entries_.rbegin(), entries_.rend(),
                               [&](const Entry& e) { return e.id == id; });
  return it == entries_.rend() ? nullptr : &*it;
}

// The problem with the base of this entry. Each mistake in a chain is reported only at the entry that makes
// it.
std::optional<Problem> ProfileReader::base_problem(const Entry& entry) const {
  if (entry.extends.empty()) return std::nullopt;
  const Entry* base = latest(entry.extends);
  if (!base) {
    std::set<std::string> ids;
    for (const Entry& e : entries_) ids.insert(e.id);
    ids.erase(entry.id);
    std::string accepted = ids.empty() ? "a profile without \"extends\"" : "one of";
    for (const std::string& id : ids) accepted += " " + id;
    return Problem(ProblemCode::UnknownProfile, entry.where("extends"),
                   "\"" + entry.id + "\" extends \"" + entry.extends + "\", which is not a profile",
                   std::move(accepted));
  }
  std::string path = entry.id + " -> " + entry.extends;
  for (size_t steps = 0; base && base != &entry && steps < entries_.size(); ++steps) {
    if (base->extends.empty()) return std::nullopt;
    path += " -> " + base->extends;
    base = latest(base->extends);
  }
  if (base != &entry) return std::nullopt;
  return Problem(ProblemCode::ProfileCycle, entry.where("extends"),
                 "\"" + entry.id + "\" extends itself: " + path,
                 "a profile that does not lead back to this one");
}

std::optional<Problem> ProfileReader::kinds_problem(const KernelProfile& profile, const Entry& entry) {
  const auto problem_of = [&](const std::vector<std::vector<std::string>>& lists, const char* key,
                              const std::set<std::string>& more) -> std::optional<Problem> {
    if (!entry.file.root().contains(key)) return std::nullopt;
    for (const std::vector<std::string>& list : lists)
      for (const std::string& kind : list) {
        if (profile.rules.contains(kind) || more.contains(kind)) continue;
        std::string accepted = "op kinds with a rule in \"ops\":";
        for (const auto& [known, rule] : profile.rules) accepted += " " + known;
        for (const std::string& known : more) accepted += " " + known;
        return Problem(
            ProblemCode::DataValue, entry.where(key),
            "\"" + std::string(key) + "\" of " + profile.id + " names \"" + kind + "\", which has no rule",
            std::move(accepted));
      }
    return std::nullopt;
  };
  // Ops that the graph adds to those of the templates.
  const std::set<std::string> added{"cache_write", "quantize"};
  if (auto problem = problem_of(profile.fused, "fused", {})) return problem;
  if (auto problem = problem_of(profile.fused_results, "fused_results", added)) return problem;
  if (auto problem = problem_of(profile.merged, "merged", added)) return problem;
  std::vector<std::string> launched;
  for (const auto& [kind, kernels] : profile.launches) launched.push_back(kind);
  return problem_of({launched}, "launches", added);
}

std::vector<KernelProfile> ProfileReader::resolve(std::vector<Problem>& problems) {
  // From the last file to the first: a user's file that breaks a chain is removed before the built-in file
  // that it overrides.
  for (size_t i = entries_.size(); i-- > 0;) {
    if (latest(entries_[i].id) != &entries_[i]) continue;
    const auto problem = base_problem(entries_[i]);
    if (!problem) continue;
    problems.push_back(*problem);
    entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(i));
    i = entries_.size();  // start again: other entries may extend the removed one
  }
  std::vector<KernelProfile> out;
  for (const Entry& entry : entries_) {
    if (std::any_of(out.begin(), out.end(), [&](const KernelProfile& p) { return p.id == entry.id; }))
      continue;
    const Entry& last = *latest(entry.id);
    json root = last.file.root();
    for (const Entry* at = &last; !at->extends.empty();) {
      at = latest(at->extends);
      inherit(root, at->file.root());
    }
    KernelProfile profile = profile_of(last.file, root);
    if (const auto problem = kinds_problem(profile, last))
      problems.push_back(*problem);
    else
      out.push_back(std::move(profile));
  }
  // Profiles without a base first, then by id, so that related profiles are adjacent in a list.
  std::sort(out.begin(), out.end(), [this](const KernelProfile& a, const KernelProfile& b) {
    return std::pair(!latest(a.id)->extends.empty(), a.id) < std::pair(!latest(b.id)->extends.empty(), b.id);
  });
  return out;
}

}  // namespace shardscape
