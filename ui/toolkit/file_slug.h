// A file or folder name from the name of a design.
#pragma once

#include <QString>

namespace shardscape::ui {

// "Llama 3 8B on 8 GPUs" becomes "llama-3-8b-on-8-gpus". A name in another script becomes "bundle-" and a
// number of its own.
QString slug(const QString& name);

}  // namespace shardscape::ui
