// Takes the members of a config.json one by one and keeps account of each. Private to core/model's import.
#pragma once

#include <initializer_list>
#include <optional>
#include <set>
#include <string>

#include "model/hf_import.h"
#include "model/json_reader.h"

namespace shardscape {

class HfReader {
 public:
  HfReader(const JsonFile& file, ImportResult& result) : file_(file), result_(result) {}

  // A size of the model. fallback: what the library that writes these files takes where the key is absent or null;
  // nothing: the key has to be there. reason: why the fallback is what it is.
  int64_t size(int64_t ModelSpec::*field, const char* key, std::optional<int64_t> fallback = {}, const char* reason = "");
  // A number that is none of the model's sizes: how long sequences may get, by which factor the MLP is wider.
  int64_t number(const char* key, const char* becomes, std::optional<int64_t> fallback = {}, const char* reason = "");
  bool flag(const char* key, const char* becomes, bool fallback, const char* reason);
  // A flag that only one value of can be modelled; why: what the other value would mean.
  void only(const char* key, bool accepted, const char* why);
  // The activation function, under the first of these keys that is there.
  void activation(std::initializer_list<const char*> keys, std::initializer_list<const char*> accepted, const char* fallback);
  // Null and absent are the same to these files, but not to the reader of sliding windows.
  bool absent(const std::string& key) const { return !value(key); }
  bool null(const std::string& key) const { return value(key) && value(key)->is_null(); }
  std::string text_or(const std::string& key, const std::string& fallback) const;
  const nlohmann::ordered_json* value(const std::string& key) const;  // "attn_config.alibi" looks inside

  void recognise(const std::string& key, const std::string& note);
  void assume(const std::string& key, const std::string& value, const std::string& note);
  void ignore(const std::string& key, const std::string& note);
  void problem(const std::string& key, const std::string& what, const std::string& accepted);
  // Everything that nobody has asked for becomes ignored, with the reason where it is known.
  void ignore_rest();

 private:
  int64_t take(const char* key, const std::string& becomes, std::optional<int64_t> fallback, const char* reason);
  std::string shown(const std::string& key) const;
  const JsonFile& file_;
  ImportResult& result_;
  std::set<std::string> taken_;
};

// What files without a model type, but with a "ssm_cfg", are of: those of the authors of Mamba.
inline constexpr const char* kUntypedMamba = "mamba_ssm";

// Fills the model from the file's members by the rules of its family; false when the model type is not known.
bool read_hf_family(const std::string& model_type, HfReader& reader, ModelSpec& model, int64_t& context);

}  // namespace shardscape
