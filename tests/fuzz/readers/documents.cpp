// Documents that the program saves. What it reads it can write, and what it writes it reads again.
#include "design/document.h"
#include "design/embedded_document.h"
#include "design/validate/validate.h"
#include "explore/recovery.h"
#include "explore/study.h"
#include "fuzz/reader.h"

namespace shardscape::fuzz {

std::string design(std::string_view input) {
  const auto read = design_from_json(std::string(input), kInputName);
  const auto* design = std::get_if<Design>(&read);
  if (!design) return reason(read);
  const auto again = design_from_json(to_json(*design), kInputName);
  require(std::holds_alternative<Design>(again), "a saved design is read again");
  require(std::get<Design>(again) == *design, "a saved design is the same design");
  return reason(validate(*design));
}

std::string study(std::string_view input) {
  const auto read = study_from_json(std::string(input), kInputName);
  const auto* study = std::get_if<Study>(&read);
  if (!study) return reason(read);
  require(std::holds_alternative<Study>(study_from_json(to_json(*study), kInputName)),
          "a saved study is read again");
  return study->lost ? to_string(*study->lost) : std::string();
}

std::string recovery(std::string_view input) {
  const auto read = recovery_from_json(std::string(input), kInputName);
  const auto* recovery = std::get_if<Recovery>(&read);
  if (!recovery) return reason(read);
  require(std::holds_alternative<Recovery>(recovery_from_json(to_json(*recovery), kInputName)),
          "saved recovery data is read again");
  return {};
}

std::string report_document(std::string_view input) {
  return reason(design_json_of(std::string(input), kInputName));
}

}  // namespace shardscape::fuzz
