#include "model/huggingface/hf_reader.h"

#include <algorithm>

#include "base/shown_text.h"
#include "base/units.h"
#include "model/huggingface/bookkeeping.h"
#include "model/model_sizes.h"

namespace shardscape {
namespace {

using json = nlohmann::ordered_json;

constexpr int64_t kMost = int64_t{1} << 31;  // of numbers that are no sizes of a model

}  // namespace

HfReader HfReader::within(const std::string& key) const {
  HfReader out = *this;
  out.scope_ += key + ".";
  return out;
}

HfReader HfReader::recording_in(ImportResult& result) const {
  HfReader out = *this;
  out.result_ = &result;
  out.read_keys_ = std::make_shared<std::set<std::string>>();
  return out;
}

const json* HfReader::at(const std::string& path) const {
  const json* here = &file_->root();
  for (size_t begin = 0; begin < path.size();) {
    const size_t dot = std::min(path.find('.', begin), path.size());
    const auto it = here->is_object() ? here->find(path.substr(begin, dot - begin)) : here->end();
    if (!here->is_object() || it == here->end()) return nullptr;
    here = &*it;
    begin = dot + 1;
  }
  return here;
}

namespace {
constexpr size_t kShownBytes = 4000;  // more than a line shows
}  // namespace

std::string HfReader::shown(const std::string& key) const {
  const json* found = value(key);
  std::string text = found ? found->dump(-1, ' ', false, json::error_handler_t::replace) : "";
  // A number that only Python writes: without the quotes that make it a JSON text.
  text.resize(std::min(text.size(), kShownBytes));
  for (size_t at = text.find(kPythonNumber); at != std::string::npos; at = text.find(kPythonNumber)) {
    const size_t end = text.find('"', at);
    if (at == 0 || end == std::string::npos) break;
    text = text.substr(0, at - 1) + text.substr(at + 1, end - at - 1) + text.substr(end + 1);
  }
  return shortened(text);
}

void HfReader::recognise(const std::string& key, const std::string& note) {
  mark_read(key);
  result_->recognised.push_back({scope_ + key, shown(key), note});
}

void HfReader::assume(const std::string& key, const std::string& value, const std::string& note) {
  mark_read(key);
  result_->assumed.push_back({scope_ + key, value, note});
}

void HfReader::ignore(const std::string& key, const std::string& note) {
  mark_read(key);
  result_->ignored.push_back({scope_ + key, shown(key), note});
}

void HfReader::leave(const std::string& key, const char* reason) {
  if (reason) return ignore(key, reason);
  mark_read(key);
  result_->unknown.push_back(
      {scope_ + key, shown(key), "unknown key; check whether the key changes the model"});
}

void HfReader::problem(ProblemCode code, const std::string& key, const std::string& what,
                       const std::string& accepted) {
  mark_read(key);
  const bool unsupported = code == ProblemCode::HfUnsupportedVariant ||
                           code == ProblemCode::HfUnsupportedType;
  if (unsupported && !result_->as.empty()) {
    result_->differences.push_back({scope_ + key, shown(key), what});
    return;
  }
  const int line = file_->line_of_member(scope_ + key);
  result_->problems.emplace_back(code, file_->name() + ":" + std::to_string(line), what, accepted);
}

int64_t HfReader::take(const char* key, const std::string& becomes, int64_t most,
                       std::optional<int64_t> fallback, const char* reason) {
  const json* found = value(key);
  const std::string quoted = "\"" + scope_ + key + "\"";
  const std::string accepted = "a whole number from 1 to " + grouped(most);
  if (!found || found->is_null()) {
    if (!fallback) {
      problem(ProblemCode::HfSizeMissing, key, quoted + ", the " + becomes + ", is missing", accepted);
      return 1;
    }
    assume(key, std::to_string(*fallback), becomes + ": " + reason);
    return *fallback;
  }
  const bool whole = found->is_number_integer() &&
                     (!found->is_number_unsigned() || found->get<uint64_t>() <= static_cast<uint64_t>(most));
  if (!whole || found->get<int64_t>() < 1 || found->get<int64_t>() > most) {
    problem(ProblemCode::HfSizeInvalid, key, quoted + ", the " + becomes + ", is " + shown(key), accepted);
    return 1;
  }
  recognise(key, becomes);
  return found->get<int64_t>();
}

int64_t HfReader::size(int64_t ModelSpec::*field, const char* key, std::optional<int64_t> fallback,
                       const char* reason) {
  const ModelSize& of = model_size(field);
  return result_->model.*field = take(key, of.imported_as, of.max, fallback, reason);
}

int64_t HfReader::number(const char* key, const char* becomes, std::optional<int64_t> fallback,
                         const char* reason) {
  return take(key, becomes, kMost, fallback, reason);
}

bool HfReader::flag(const char* key, const char* becomes, bool fallback, const char* reason) {
  const json* found = value(key);
  if (!found || found->is_null()) {
    assume(key, fallback ? "true" : "false", std::string(becomes) + ": " + reason);
    return fallback;
  }
  if (!found->is_boolean()) {
    problem(ProblemCode::HfFlagInvalid, key, "\"" + scope_ + key + "\" is " + shown(key), "true or false");
    return fallback;
  }
  recognise(key, becomes);
  return found->get<bool>();
}

void HfReader::only(const char* key, bool accepted, const char* why) {
  const json* found = value(key);
  if (!found) return;
  if (found->is_null()) return ignore(key, "not set");
  if (found->is_boolean() && found->get<bool>() == accepted) return recognise(key, "the supported value");
  problem(ProblemCode::HfUnsupportedVariant, key, "\"" + scope_ + key + "\" is " + shown(key) + ": " + why,
          accepted ? "true" : "false");
}

void HfReader::activation(std::initializer_list<const char*> keys,
                          std::initializer_list<const char*> accepted, const char* fallback) {
  const char* given = nullptr;
  for (const char* key : keys)
    if (!given && !absent(key) && !null(key)) given = key;
  const char* present = given ? given : *keys.begin();
  for (const char* key : keys)
    if (key != present && !absent(key))
      ignore(key, null(key) ? "not set" : "follows from \"" + std::string(present) + "\"");
  if (!given) return assume(present, fallback, "activation function: the default of this family");
  const json* found = value(given);
  const bool good = found->is_string() && std::any_of(accepted.begin(), accepted.end(),
                                                      [&](const char* word) { return *found == word; });
  if (good) return recognise(given, "activation function");
  std::string list;
  for (const char* word : accepted) list += (list.empty() ? "" : ", ") + std::string(word);
  problem(ProblemCode::HfUnsupportedVariant, given,
          "\"" + scope_ + given + "\" is " + shown(given) + ", which the MLP of this family does not support",
          list);
}

std::string HfReader::text_or(const std::string& key, const std::string& fallback) const {
  const json* found = value(key);
  return found && found->is_string() ? found->get<std::string>() : fallback;
}

void HfReader::ignore_rest() {
  const json* object = at(scope_);
  if (object && object->is_object()) ignore_rest(*object, "");
}

// inside: path from this reader's object, with a dot at its end.
void HfReader::ignore_rest(const json& object, const std::string& inside) {
  for (const auto& [name, member] : object.items()) {
    const std::string key = inside + name, prefix = scope_ + key + ".";
    const bool read = read_keys_->count(scope_ + key) > 0;
    const auto within = read_keys_->lower_bound(prefix);
    if (member.is_object() && within != read_keys_->end() && within->starts_with(prefix))
      ignore_rest(member, key + ".");
    else if (!read)
      leave(key, hf::bookkeeping_reason(name, shown(key)));
  }
}

}  // namespace shardscape
