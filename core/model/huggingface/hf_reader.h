// Reads the members of a config.json one by one and records how each is used. Private to core/model's import.
#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "model/huggingface/hf_import.h"
#include "model/json_reader.h"

namespace shardscape {

// A reader reads the members of one object of the file. Problems and entries have the path of their key in
// the file: "text_config.hidden_size".
class HfReader {
 public:
  HfReader(const JsonFile& file, ImportResult& result)
      : file_(&file), result_(&result), read_keys_(std::make_shared<std::set<std::string>>()) {}

  // A reader of the object under this key. Both readers count as one in ignore_rest().
  HfReader within(const std::string& key) const;
  // A reader of the same object that records in another result.
  HfReader recording_in(ImportResult& result) const;

  // Reads a size of the model. fallback: the default of the library that writes these files, for an absent or
  // null key; without a fallback the key is required. reason: explains the fallback in the report.
  int64_t size(int64_t ModelSpec::*field, const char* key, std::optional<int64_t> fallback = {},
               const char* reason = "");
  // Reads a number that is not itself a size of the model: the longest sequence, the ratio of FFN and hidden
  // size.
  int64_t number(const char* key, const char* becomes, std::optional<int64_t> fallback = {},
                 const char* reason = "");
  bool flag(const char* key, const char* becomes, bool fallback, const char* reason);
  // A flag of which only one value has blocks. why: the meaning of the other value.
  void only(const char* key, bool accepted, const char* why);
  // The activation function, under the first key that is present.
  void activation(std::initializer_list<const char*> keys, std::initializer_list<const char*> accepted,
                  const char* fallback);
  // absent: no such member. null: the member is null. Only sliding windows distinguish the two.
  bool absent(const std::string& key) const { return !value(key); }
  bool null(const std::string& key) const { return value(key) && value(key)->is_null(); }
  std::string text_or(const std::string& key, const std::string& fallback) const;
  // A dot in the key looks inside an object: "attn_config.alibi".
  const nlohmann::ordered_json* value(const std::string& key) const { return at(scope_ + key); }

  void recognise(const std::string& key, const std::string& note);
  void assume(const std::string& key, const std::string& value, const std::string& note);
  void ignore(const std::string& key, const std::string& note);
  // A setting without blocks is a difference instead, if the caller chose the type of the file.
  void problem(ProblemCode code, const std::string& key, const std::string& what,
               const std::string& accepted);
  // Lists every key of the object that was not read: as ignored if the key is bookkeeping, otherwise as
  // unknown.
  void ignore_rest();
  // Values as in the file; long ones are cut.
  std::string shown(const std::string& key) const;

 private:
  const nlohmann::ordered_json* at(const std::string& path) const;
  int64_t take(const char* key, const std::string& becomes, int64_t most, std::optional<int64_t> fallback,
               const char* reason);
  void ignore_rest(const nlohmann::ordered_json& object, const std::string& inside);
  // reason: why the key changes nothing; null lists the key as unknown.
  void leave(const std::string& key, const char* reason);
  void mark_read(const std::string& key) { read_keys_->insert(scope_ + key); }
  const JsonFile* file_;
  ImportResult* result_;
  std::string scope_;                                 // path of the object, with a dot at its end
  std::shared_ptr<std::set<std::string>> read_keys_;  // paths
};

}  // namespace shardscape
