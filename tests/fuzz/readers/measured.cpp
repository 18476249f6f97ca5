// Recordings and measurements.
#include "fuzz/input_file.h"
#include "fuzz/reader.h"
#include "performance/calibration.h"
#include "performance/measured_ops.h"
#include "validation/mapping.h"
#include "validation/measured_set.h"
#include "validation/recording.h"

namespace shardscape::fuzz {

std::string recording(std::string_view input) {
  const auto read = recording_from_json(std::string(input), kInputName);
  if (const auto* recording = std::get_if<Recording>(&read)) map_recording(*recording);
  return reason(read);
}

std::string measured_set(std::string_view input) {
  return reason(read_measured_set(input_file(input, "measured.json").string()));
}

std::string measured_ops(std::string_view input) {
  return reason(read_measured_ops(std::string(input), kInputName));
}

std::string calibration(std::string_view input) {
  const auto read = read_calibration(std::string(input), kInputName);
  if (const auto* calibration = std::get_if<Calibration>(&read))
    require(std::holds_alternative<Calibration>(read_calibration(calibration_json(*calibration), kInputName)),
            "a saved calibration is read again");
  return reason(read);
}

}  // namespace shardscape::fuzz
