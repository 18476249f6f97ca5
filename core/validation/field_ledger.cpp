#include "validation/field_ledger.h"

#include <algorithm>

#include "base/shown_text.h"
#include "design/knobs/knobs.h"

namespace shardscape {
namespace {

constexpr size_t kMostOfName = 80;  // bytes of the name of an unknown field that are shown

std::string full_name(const std::string& name) {
  return name.starts_with("config.") || name.starts_with("parallel.") ? name : "config." + name;
}

}  // namespace

const RecordedField* FieldLedger::use(std::initializer_list<const char*> names) {
  const RecordedField* found = nullptr;
  for (const char* name : names) {
    const RecordedField* field = recording_.field(full_name(name));
    if (!field) continue;
    used_.insert(field->name);
    if (!found && !std::holds_alternative<std::monostate>(field->value)) found = field;
  }
  return found;
}

std::optional<int64_t> FieldLedger::integer(std::initializer_list<const char*> names) {
  const RecordedField* field = use(names);
  if (!field) return std::nullopt;
  if (const auto* number = std::get_if<int64_t>(&field->value)) return *number;
  unmapped(field->name, "a whole number was expected");
  return std::nullopt;
}

std::optional<std::string> FieldLedger::text(std::initializer_list<const char*> names) {
  const RecordedField* field = use(names);
  return field ? std::optional(field_text(*field)) : std::nullopt;
}

bool FieldLedger::flag(const char* name) {
  const RecordedField* field = use({name});
  if (!field) return false;
  if (const auto* value = std::get_if<bool>(&field->value)) return *value;
  unmapped(field->name, "true or false was expected");
  return false;
}

void FieldLedger::ignore(std::initializer_list<const char*> names) { use(names); }

bool FieldLedger::set(const std::string& knob_id, const std::string& value, const std::string& field,
                      const std::string& neutral) {
  const Knob* knob = find_knob(knob_id);
  if (!knob) {
    if (value == neutral) return true;
    unmapped(field, "there is no setting \"" + knob_id + "\" to set to " + value);
    return false;
  }
  if (const auto problem = set_knob(mapping_.design, *knob, value)) {
    unmapped(field, to_string(*problem));
    return false;
  }
  return true;
}

void FieldLedger::unmapped(const std::string& field, const std::string& reason) {
  const std::string name = full_name(field);
  const RecordedField* known = recording_.field(name);
  mapping_.unmapped.push_back({known ? name : field, known ? field_text(*known) : "", reason});
}

void FieldLedger::close() {
  for (const RecordedField& field : recording_.fields)
    if (!used_.contains(field.name))
      mapping_.unmapped.push_back(
          {shortened_inside(field.name, kMostOfName), field_text(field), "this field is unknown"});
}

}  // namespace shardscape
