// A file or folder name from the name of a design.
#pragma once

#include <QString>

namespace shardscape::ui {

QString slug(const QString& name);  // "Llama 3 8B on 8 GPUs" becomes "llama-3-8b-on-8-gpus"

}  // namespace shardscape::ui
