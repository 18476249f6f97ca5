#include "bundle/compact_bundle.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/data_dir.h"
#include "base/json_text.h"
#include "base/units.h"
#include "base/version.h"
#include "bundle/bundle_files.h"
#include "bundle/bundle_readme.h"
#include "bundle/bundle_target.h"
#include "bundle/manifest.h"
#include "bundle/number_sequence.h"
#include "bundle/trace_template.h"
#include "chakra/digest.h"

namespace shardscape {
namespace fs = std::filesystem;
namespace {

constexpr const char* kFormat = "shardscape-compact-bundle";
constexpr int kVersion = 1;
// More than any job has; bounds the memory that a damaged file can ask for.
constexpr int64_t kMostRanks = int64_t{1} << 24;
constexpr int64_t kMostMembers = int64_t{1} << 24;  // of all groups together

Problem damaged(const fs::path& file, const std::string& what) {
  return {ProblemCode::WrongKindOfFile, file.string(), what,
          "a compact bundle as shardscape-cli export --compact writes it"};
}

nlohmann::ordered_json groups_table(const GroupTable& groups) {
  std::vector<int64_t> ids, sizes, ranks;
  for (const CommGroup& group : groups.groups()) {
    ids.push_back(group.id);
    sizes.push_back(static_cast<int64_t>(group.ranks.size()));
    ranks.insert(ranks.end(), group.ranks.begin(), group.ranks.end());
  }
  return {{"ids", NumberSequence::of(ids).pieces()},
          {"sizes", NumberSequence::of(sizes).pieces()},
          {"ranks", NumberSequence::of(ranks).pieces()}};
}

// The numbers of all ranks of a class that occur in its trace. Equal sequences are one.
nlohmann::ordered_json class_table(const TraceExport& traces, const FileClass& of) {
  const size_t roles = traces.lowering().roles().size();
  std::vector<std::vector<int64_t>> columns(of.used_slots.size());
  for (const int64_t rank : of.ranks) {
    const RankNumbers numbers = traces.numbers(rank);
    for (size_t s = 0; s < of.used_slots.size(); ++s) columns[s].push_back(numbers.values[of.used_slots[s]]);
  }
  auto groups = nlohmann::ordered_json::array(), peers = nlohmann::ordered_json::array();
  for (size_t s = 0; s < of.used_slots.size(); ++s) {
    nlohmann::ordered_json& to = of.used_slots[s] < roles ? groups : peers;
    const nlohmann::ordered_json pieces = NumberSequence::of(columns[s]).pieces();
    if (std::find(to.begin(), to.end(), pieces) == to.end()) to.push_back(pieces);
  }
  return {{"stage", of.stage},
          {"position", of.position},
          {"ranks", NumberSequence::of(of.ranks).pieces()},
          {"groups", std::move(groups)},
          {"peers", std::move(peers)},
          {"nodes", of.nodes},
          {"collectives", of.collectives},
          {"sends", of.sends},
          {"bytes", of.bytes},
          {"digest", poly61_text(of.digest)}};
}

nlohmann::ordered_json texts_table(const BundleTexts& texts) {
  nlohmann::ordered_json out;
  for (const auto& [name, text] : texts) out[name] = text;
  return out;
}

std::string compact_readme(const std::string& title, const TraceTotals& totals) {
  return "# " + title + "\n\nA compact bundle of Chakra execution traces, written by Shardscape " +
         std::string(program_version()) + ". It stands for " + grouped(totals.ranks) + " traces with " +
         grouped(totals.nodes) + " nodes, " + format_bytes(totals.bytes) +
         ".\n\n"
         "Ranks of a class have the same trace, except the ids of their groups, their own rank and their "
         "peers.\n\n"
         "| file | content |\n| --- | --- |\n"
         "| `class-0.et` to `class-" +
         std::to_string(totals.classes.size() - 1) +
         ".et` | the Chakra trace of the first rank of each class |\n"
         "| `compact.json` | the ranks and numbers of each class, the groups, and the other files of the "
         "bundle |\n\n"
         "Write all traces, or those of some ranks:\n\n"
         "    shardscape-cli expand . -o ../expanded\n"
         "    shardscape-cli expand . --ranks 0-7 -o ../some\n\n"
         "The result has the bytes of a direct export. `check`, `simulate` and ASTRA-sim read the expanded "
         "bundle.\n";
}

// compact.json, read.
struct CompactClass {
  NumberSequence ranks;
  std::vector<NumberSequence> groups, peers;
  FileClass counts;
};
struct CompactTable {
  std::string name, digest;
  int64_t ranks = 0;  // of the job
  std::vector<CompactClass> classes;
  NumberSequence group_ids, group_sizes, group_ranks;
  std::map<std::string, std::string> files, part_files;
};

NumberSequence sequence(const nlohmann::json& j, const char* key) {
  auto read = NumberSequence::from(j.at(key).get<std::vector<std::vector<int64_t>>>());
  if (!read) throw std::invalid_argument(std::string(key) + ": the sequence of numbers is damaged");
  return *std::move(read);
}

std::vector<NumberSequence> sequences(const nlohmann::json& j, const char* key, int64_t size) {
  std::vector<NumberSequence> out;
  for (const auto& pieces : j.at(key)) {
    auto read = NumberSequence::from(pieces.get<std::vector<std::vector<int64_t>>>());
    if (!read || read->size() != size)
      throw std::invalid_argument(std::string(key) + ": a class needs one number per rank");
    out.push_back(*std::move(read));
  }
  return out;
}

CompactClass read_class(const nlohmann::json& j, size_t index) {
  CompactClass out;
  out.ranks = sequence(j, "ranks");
  if (out.ranks.size() < 1) throw std::invalid_argument("classes: a class has no rank");
  out.groups = sequences(j, "groups", out.ranks.size());
  out.peers = sequences(j, "peers", out.ranks.size());
  FileClass& c = out.counts;
  const auto within = [&](const char* key, int64_t most) {
    const int64_t value = integer_of(j.at(key));
    if (value < 0 || value > most)
      throw std::invalid_argument("classes: \"" + std::string(key) + "\" is " + std::to_string(value) +
                                  ", not from 0 to " + std::to_string(most));
    return value;
  };
  constexpr int64_t kMostNodes = int64_t{1} << 38;  // the nodes of 2^24 ranks stay in range
  c.stage = static_cast<int>(within("stage", std::numeric_limits<int>::max()));
  c.position = within("position", std::numeric_limits<int64_t>::max());
  c.index = index;
  c.nodes = within("nodes", kMostNodes);
  c.collectives = within("collectives", kMostNodes);
  c.sends = within("sends", kMostNodes);
  return out;
}

// Of all other keys, without white space.
std::string table_digest(const nlohmann::ordered_json& table) { return poly61_text(poly61(table.dump())); }

template <class Json>
Json parsed(const std::string& text) {
  Json out;
  if (const auto mistake = parse_json(text, out)) throw std::invalid_argument(mistake->what);
  return out;
}

void check_digest(const std::string& text) {
  auto table = parsed<nlohmann::ordered_json>(text);
  const auto digest = table.at("digest");
  table.erase("digest");
  if (digest != table_digest(table)) throw std::invalid_argument("the file has changed since it was written");
}

// The files of a bundle besides traces and groups, in the order of an export. files: those of packet-level
// backends are among them only if they are in it.
std::vector<std::string> other_files(const auto& files) {
  std::vector<std::string> names{kSystemName, kNetworkName, kMemoryName};
  for (const PacketFileKind& kind : packet_file_kinds())
    if (files.contains(kind.name)) names.emplace_back(kind.name);
  for (const char* name : {kReadmeName, kScriptName, kManifestName}) names.emplace_back(name);
  return names;
}

// Throws std::invalid_argument or an exception of the JSON library.
CompactTable parse_table(const std::string& text) {
  const auto j = parsed<nlohmann::json>(text);
  if (!j.is_object() || j.value("format", nlohmann::json()) != kFormat)
    throw std::invalid_argument("the file is not the table of a compact bundle");
  if (j.at("format_version") != kVersion)
    throw std::invalid_argument("format_version is " + j.at("format_version").dump() +
                                "; this program reads version " + std::to_string(kVersion));
  check_digest(text);
  CompactTable out;
  out.name = j.at("traces").get<std::string>();
  if (const auto problem = check_trace_name(out.name))
    throw std::invalid_argument("traces: " + problem->what);
  out.ranks = integer_of(j.at("ranks"));
  int64_t members = 0;
  for (const auto& c : j.at("classes")) {
    members += out.classes.emplace_back(read_class(c, out.classes.size())).ranks.size();
    if (members > std::min(out.ranks, kMostRanks))
      throw std::invalid_argument("classes: they have more ranks than the job, or more than " +
                                  grouped(kMostRanks));
  }
  const auto& groups = j.at("groups");
  out.group_ids = sequence(groups, "ids");
  out.group_sizes = sequence(groups, "sizes");
  out.group_ranks = sequence(groups, "ranks");
  if (out.group_ids.size() != out.group_sizes.size() || 2 * out.group_ids.size() > out.group_ranks.size() ||
      out.group_ranks.size() > kMostMembers)
    throw std::invalid_argument("groups: ids, sizes and ranks do not fit together");
  for (const std::string& name : other_files(j.at("files")))
    out.files[name] = j.at("files").at(name).get<std::string>();
  for (const char* name : {kReadmeName, kManifestName})
    out.part_files[name] = j.at("part_files").at(name).get<std::string>();
  out.digest = poly61_text(poly61(text));
  return out;
}

std::string groups_of(const CompactTable& table) {
  std::vector<CommGroup> groups;
  int64_t at = 0;
  for (int64_t g = 0; g < table.group_ids.size(); ++g) {
    CommGroup& group = groups.emplace_back();
    group.id = static_cast<int32_t>(table.group_ids.at(g));
    const int64_t size = table.group_sizes.at(g);
    if (size > table.group_ranks.size() - at)
      throw std::invalid_argument("groups: ids, sizes and ranks do not fit together");
    for (int64_t k = 0; k < size; ++k) group.ranks.push_back(table.group_ranks.at(at + k));
    at += size;
  }
  return groups_json(groups);
}

class CompactSource : public TraceSource {
 public:
  // Reads the traces of the classes that have ranks in the part. Throws std::invalid_argument.
  CompactSource(const fs::path& folder, const CompactTable& table, const RankPart& part) : table_(table) {
    for (const CompactClass& of : table.classes) {
      std::vector<size_t> places;
      FileClass c = of.counts;
      for (int64_t k = 0; k < of.ranks.size(); ++k) {
        const int64_t rank = of.ranks.at(k);
        if (!part.has(rank, c.stage)) continue;
        if (rank >= table.ranks || (!c.ranks.empty() && rank <= c.ranks.back()))
          throw std::invalid_argument("classes: ranks do not ascend, or are beyond the ranks of the job");
        c.ranks.push_back(rank);
        places.push_back(static_cast<size_t>(k));
      }
      places_.push_back(std::move(places));
      if (!c.ranks.empty()) classes_.push_back(std::move(c));
    }
    templates_.resize(table.classes.size());
    for (const FileClass& c : classes_) read_template(folder, c);
  }

  std::vector<FileClass> classes() const override { return classes_; }
  SlotTexts texts(const FileClass& of, size_t k) const override {
    return texts_at(of.index, static_cast<int64_t>(places_[of.index][k]));
  }
  std::unique_ptr<Encoder> encoder(FileClass& of, const std::stop_token&) const override {
    const FileClass& counts = table_.classes[of.index].counts;
    of.nodes = counts.nodes;
    of.collectives = counts.collectives;
    of.sends = counts.sends;
    return std::make_unique<TemplateEncoder>(*templates_[of.index]);
  }
  // Bytes of all traces, except for the width of numbers.
  int64_t bytes() const {
    int64_t sum = 0;
    for (const FileClass& c : classes_) sum += sizes_.at(c.index) * static_cast<int64_t>(c.ranks.size());
    return sum;
  }

 private:
  class TemplateEncoder : public Encoder {
   public:
    explicit TemplateEncoder(const TraceTemplate& of) : template_(of) {}
    TraceImage image(const SlotTexts& texts, const std::stop_token&) const override {
      return template_.image(texts);
    }

   private:
    const TraceTemplate& template_;
  };

  SlotTexts texts_at(size_t index, int64_t k) const {
    const CompactClass& of = table_.classes[index];
    RankNumbers numbers;
    for (const auto* list : {&of.groups, &of.peers})
      for (const NumberSequence& sequence : *list) numbers.values.push_back(sequence.at(k));
    return slot_texts(numbers, static_cast<int>(of.groups.size()));
  }

  void read_template(const fs::path& folder, const FileClass& c) {
    const fs::path path = folder / class_file_name(c.index);
    auto text = read_text(path);
    if (const auto* problem = std::get_if<Problem>(&text))
      throw std::invalid_argument(path.filename().string() + ": " + problem->what);
    std::string& file = std::get<std::string>(text);
    if (file.size() > size_t{INT32_MAX})
      throw std::invalid_argument(path.filename().string() + ": the file is larger than 2 GiB");
    sizes_[c.index] = static_cast<int64_t>(file.size());
    const CompactClass& of = table_.classes[c.index];
    std::map<std::string, size_t> groups;
    std::map<int64_t, size_t> peers;
    for (size_t s = 0; s < of.groups.size(); ++s) groups.emplace(std::to_string(of.groups[s].at(0)), s);
    for (size_t s = 0; s < of.peers.size(); ++s) peers.emplace(of.peers[s].at(0), of.groups.size() + s);
    if (groups.size() != of.groups.size() || peers.size() != of.peers.size())
      throw std::invalid_argument("classes: a number of a class's first rank occurs twice");
    auto read = TraceTemplate::read(std::move(file), groups, peers, path.string());
    if (const auto* problem = std::get_if<Problem>(&read))
      throw std::invalid_argument(path.filename().string() + ": " + problem->what);
    templates_[c.index] = std::make_unique<TraceTemplate>(std::move(std::get<TraceTemplate>(read)));
  }

  const CompactTable& table_;
  std::vector<FileClass> classes_;
  std::vector<std::vector<size_t>> places_;  // by class: which of its ranks
  std::vector<std::unique_ptr<TraceTemplate>> templates_;
  std::map<size_t, int64_t> sizes_;
};

// Writes all files but the traces. Throws std::invalid_argument or an exception of the JSON library.
std::optional<Problem> write_expanded(const fs::path& compact, const CompactTable& table,
                                      const RankPart& part, const TraceTotals& totals,
                                      const std::string& groups, ByteSink& sink) {
  std::map<std::string, std::string> files = table.files;
  if (part.whole()) {
    const auto manifest = parsed<nlohmann::json>(files.at(kManifestName));
    for (size_t c = 0; c < totals.classes.size(); ++c)
      if (manifest.at("classes").at(c).at("digest") != poly61_text(totals.classes[c].digest))
        return damaged(compact / class_file_name(c), "the traces of this class are not those of its export");
  } else {
    std::string& readme = files.at(kReadmeName) = table.part_files.at(kReadmeName);
    const size_t at = readme.find(kTraceLines);
    if (at != std::string::npos)
      readme.replace(at, std::string_view(kTraceLines).size(), trace_lines(totals, part, table.ranks));
    files.at(kManifestName) = manifest_of_part(table.part_files.at(kManifestName), totals);
  }
  if (auto problem = sink.write(kGroupsName, groups)) return problem;
  for (const std::string& name : other_files(files))
    if (auto problem = sink.write(name, files.at(name))) return problem;
  return std::nullopt;
}

Result<ExportSummary> expand(const fs::path& compact, const CompactTable& table, const RankPart& part,
                             const ExpandOptions& options, const ExportProgressFn& progress,
                             const std::stop_token& stop) {
  const CompactSource source(compact, table, part);
  if (source.classes().empty())
    return Problem{ProblemCode::FlagValueInvalid, "--ranks", "the compact bundle has none of these ranks",
                   "ranks of the compact bundle"};
  const std::string groups = groups_of(table);
  int64_t ranks = 0;
  for (const FileClass& c : source.classes()) ranks += static_cast<int64_t>(c.ranks.size());
  const nlohmann::ordered_json settings = {{"compact", table.digest}, {"ranks", options.ranks}};
  return write_target({.target = options.target,
                       .replace = options.replace,
                       .bytes_needed = source.bytes() + static_cast<int64_t>(groups.size()) + 4096 * ranks,
                       .settings = json_document(settings),
                       .resume = options.resume,
                       .keep_partial = options.keep_partial},
                      [&](ByteSink& sink) -> Result<ExportSummary> {
                        auto written = write_traces(source, {table.name}, sink, progress, stop);
                        if (auto* problem = std::get_if<Problem>(&written)) return std::move(*problem);
                        const auto& totals = std::get<TraceTotals>(written);
                        if (auto problem = write_expanded(compact, table, part, totals, groups, sink))
                          return *problem;
                        if (stop.stop_requested()) return stopped_problem();
                        ExportSummary summary;
                        summary.ranks = totals.ranks;
                        summary.nodes = totals.nodes;
                        summary.bytes = totals.bytes;
                        return summary;
                      });
}

}  // namespace

BundleTexts compact_texts(const std::string& name, const TraceExport& traces, const TraceTotals& totals,
                          const BundleTexts& files, const BundleTexts& part_files) {
  nlohmann::ordered_json j;
  j["format"] = kFormat;
  j["format_version"] = kVersion;
  j["program"] = "shardscape";
  j["program_version"] = program_version();
  j["traces"] = name;
  j["ranks"] = traces.lowering().mesh().ranks();
  j["classes"] = nlohmann::ordered_json::array();
  for (const FileClass& c : totals.classes) j["classes"].push_back(class_table(traces, c));
  j["groups"] = groups_table(traces.groups());
  j["files"] = texts_table(files);
  j["part_files"] = texts_table(part_files);
  j["digest"] = table_digest(j);
  const std::string title = traces.lowering().report().design.name;
  return {{kReadmeName, compact_readme(title, totals)}, {kCompactName, json_document(j, 1)}};
}

Result<ExportSummary> expand_bundle(const fs::path& compact, const ExpandOptions& options,
                                    const ExportProgressFn& progress, std::stop_token stop) {
  const auto start = std::chrono::steady_clock::now();
  const fs::path file = compact / kCompactName;
  const auto text = read_text(file);
  if (const auto* problem = std::get_if<Problem>(&text)) return *problem;
  try {
    const CompactTable table = parse_table(std::get<std::string>(text));
    RankPart part;
    if (!options.ranks.empty()) {
      auto ranges = parse_index_ranges(options.ranks, "--ranks", "ranks", table.ranks);
      if (auto* problem = std::get_if<Problem>(&ranges)) return std::move(*problem);
      part.ranks = std::move(std::get<IndexRanges>(ranges));
    }
    auto expanded = expand(compact, table, part, options, progress, stop);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    if (auto* summary = std::get_if<ExportSummary>(&expanded)) summary->seconds = elapsed.count();
    return expanded;
  } catch (const std::invalid_argument& error) {
    return damaged(file, error.what());
  } catch (const nlohmann::json::exception& error) {
    return damaged(file, json_reason(error));
  }
}

}  // namespace shardscape
