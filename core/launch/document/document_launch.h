// Steps that readers of documents share: arguments, the model by its preset, numbers.
#pragma once

#include <optional>
#include <string>

#include "launch/document/launch_document.h"
#include "launch/launch_import.h"

namespace shardscape {

// The arguments of a text; nullopt after a problem in `out`.
std::optional<LaunchDocument> read_request(DocumentLanguage language, const std::string& text,
                                           const LaunchRequest& request, LaunchImport& out);

// The model of a preset becomes the design's, because of an argument. False: there is no such preset.
bool set_preset(LaunchFields& fields, const std::string& preset, const std::string& argument);
// LaunchRequest::model, for a file whose model is not known; otherwise a problem, which asks for the model.
// found: "the file names no model".
bool set_requested_model(LaunchFields& fields, const LaunchRequest& request, const std::string& found,
                         LaunchImport& out);

// A decimal number; nullopt if the text is none.
std::optional<double> real_number(const std::string& text);
// Layers per stage from the first to the last: "9,8,8,7".
std::string joined_numbers(const std::vector<int64_t>& numbers);

}  // namespace shardscape
