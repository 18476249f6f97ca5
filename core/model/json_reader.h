// Reading JSON data files with located errors. Private to core's .cpp files: it shows the JSON library.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/problem.h"

namespace shardscape {

// Thrown inside a reader, caught at its door: the file is left out and the Problem is shown.
struct DataError {
  Problem problem;
};

// Objects keep the order of the file: the order of a block's inputs is the order of a call's arguments.
class JsonFile {
 public:
  // name: what messages call the file. Throws DataError on text that is not a JSON object.
  JsonFile(std::string text, std::string name);

  const nlohmann::ordered_json& root() const { return root_; }
  const std::string& name() const { return name_; }
  // Line of the first occurrence of a quoted string (a key or an op line); 1 when absent.
  int line_of(const std::string& quoted) const;
  [[noreturn]] void fail(const std::string& near, const std::string& what, const std::string& accepted) const;

  // The member, or DataError naming the key and what it should hold.
  const nlohmann::ordered_json& object(const nlohmann::ordered_json& in, const std::string& key) const;
  const nlohmann::ordered_json& array(const nlohmann::ordered_json& in, const std::string& key) const;
  std::string text(const nlohmann::ordered_json& in, const std::string& key) const;
  std::string text_or(const nlohmann::ordered_json& in, const std::string& key, const std::string& fallback) const;
  int64_t integer(const nlohmann::ordered_json& in, const std::string& key) const;
  int64_t integer_or(const nlohmann::ordered_json& in, const std::string& key, int64_t fallback) const;
  bool boolean_or(const nlohmann::ordered_json& in, const std::string& key, bool fallback) const;
  // Fails on a key that is not in the list: a misspelt key must not be ignored.
  void only(const nlohmann::ordered_json& in, std::initializer_list<const char*> keys) const;

 private:
  const nlohmann::ordered_json* find(const nlohmann::ordered_json& in, const std::string& key) const;
  std::string text_, name_;
  nlohmann::ordered_json root_;
};

}  // namespace shardscape
