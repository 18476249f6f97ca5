// The caption of exported pictures: which design and cluster a picture shows, the version of the program, and
// the day.
#pragma once

#include <QDate>
#include <QString>

namespace shardscape {
struct Design;
}

namespace shardscape::ui {

class Session;

// "Llama 3 8B on 8 GPUs · tp 2 · dp 4 · sequence 8,192 · batch 64 · 8 × NVIDIA H100 SXM 80 GB".
QString designCaption(const Design& design);
// The design of the shown results; with pinned designs one line for each, A and B and so on; then the
// version and the day: "Shardscape 0.1.0 · 2026-11-28".
QString pictureCaption(const Session& session, QDate day);

}  // namespace shardscape::ui
