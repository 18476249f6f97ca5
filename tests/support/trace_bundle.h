// Hand-made trace bundles for tests, node by node, so that a test can break any rule.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "chakra/chakra.h"

namespace shardscape::test {

struct TraceAttr {
  std::string name;
  uint32_t kind = chakra::attr_field::kInt64;  // field number of the value
  int64_t integer = 0;
  std::string bytes{};  // payload of strings and lists
};

struct TraceNodeSpec {
  uint64_t id = 0;
  std::string name;
  int type = 0;
  std::vector<uint64_t> deps;
  std::vector<TraceAttr> attrs{};
  TraceAttr& attr(const std::string& name);  // adds it if missing
  void drop(const std::string& name);
};

struct TraceFileSpec {
  bool metadata = true;
  std::vector<TraceNodeSpec> nodes;
  std::string raw{};  // replaces the content of the file unless empty
  TraceNodeSpec& node(uint64_t id);
};

struct BundleSpec {
  std::string name = "trace";
  std::map<int64_t, TraceFileSpec> ranks;
  std::map<std::string, std::string> files;   // simulator configuration
  std::map<std::string, std::string> more{};  // further files by name
  void save(const std::filesystem::path& folder) const;
};

std::string trace_bytes(const TraceFileSpec& file);
TraceNodeSpec compute(uint64_t id, std::vector<uint64_t> deps, int64_t ops = 1'000'000'000,
                      int64_t bytes = 1'000'000);
TraceNodeSpec collective(uint64_t id, std::vector<uint64_t> deps, chakra::CollectiveType type, int64_t bytes,
                         const std::string& group);
TraceNodeSpec transfer(uint64_t id, std::vector<uint64_t> deps, bool send, int64_t source,
                       int64_t destination, int64_t bytes, int64_t tag);
std::string encode_string_list(const std::vector<std::string>& strings);
std::string encode_bool_list(const std::vector<bool>& values);

// A valid bundle: four ranks in two stages of two, with every kind of node.
BundleSpec good_bundle();

}  // namespace shardscape::test
