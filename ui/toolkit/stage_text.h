// What a stage holds, in words: its layers, and the microbatches in flight on it.
#pragma once

#include <QString>

#include "plan/report.h"

namespace shardscape::ui {

// "8 layers"; with virtual stages the layers of each: "layers 0 … 3 | 16 … 19".
QString layers_text(const StageReport& stage);
// "4 microbatches in flight"; with virtual stages each of them on one chunk: "11 microbatch chunks in
// flight".
QString in_flight_text(const StageReport& stage);

}  // namespace shardscape::ui
