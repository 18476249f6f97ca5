// Texts about a stage: its layers and its microbatches in flight.
#pragma once

#include <QString>

#include "plan/report.h"

namespace shardscape::ui {

// "8 layers". With virtual stages, the layers of each chunk: "layers 0 … 3 | 16 … 19".
QString layers_text(const StageReport& stage);
// "4 microbatches in flight". With virtual stages, pairs of microbatch and chunk: "11 microbatch chunks in
// flight".
QString in_flight_text(const StageReport& stage);

}  // namespace shardscape::ui
