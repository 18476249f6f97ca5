// Values that refer to other values of a document: "${model.encoder_seq_length}", "${.hidden_size}",
// "${multiply:4, ${.hidden_size}}", "${oc.env:TP,1}" (OmegaConf, with the resolvers that NeMo and MLPerf
// register).
#pragma once

#include <map>
#include <string>

#include "launch/document/launch_document.h"

namespace shardscape {

// Replaces the references of every value. variables: of the environment. Values that cannot be known keep
// their text. Bounded in steps and bytes, so that values which refer to each other end.
void interpolate(LaunchDocument& document, const std::map<std::string, std::string>& variables);

}  // namespace shardscape
