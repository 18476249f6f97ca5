#include <nlohmann/json.hpp>

#include "app/cli/profile_output.h"
#include "base/json_text.h"

namespace shardscape {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json categories_json(const ProfiledStep& step) {
  Json out = Json::object();
  for (int c = 0; c < kProfileCategoryCount; ++c)
    out[std::string(
        profile_category_name(static_cast<ProfileCategory>(c)))] = step.categories[static_cast<size_t>(c)];
  return out;
}

Json key_json(const CollectiveKey& key) {
  return {{"op", collective_kind_name(key.kind)},
          {"group_size", key.group_size},
          {"dtype", key.dtype},
          {"small", key.small}};
}

Json collectives_json(const ProfiledStep& step) {
  Json out = Json::array();
  for (const auto& [key, total] : step.collectives) {
    Json row = key_json(key);
    row["calls"] = total.calls;
    row["sized_calls"] = total.sized_calls;
    row["elements"] = total.elements;
    row["bytes"] = total.bytes;
    row["seconds"] = total.seconds;
    row["exposed_seconds"] = total.exposed;
    out.push_back(std::move(row));
  }
  return out;
}

Json step_json(const ProfiledStep& step) {
  Json kernels = Json::array(), layers = Json::array(), streams = Json::array();
  for (const KernelRow& kernel : step.kernels)
    kernels.push_back({{"name", kernel.name},
                       {"category", profile_category_name(kernel.category)},
                       {"calls", kernel.calls},
                       {"seconds", kernel.seconds}});
  for (const ProfiledLayer& layer : step.layers)
    layers.push_back({{"name", layer.name}, {"forward", layer.forward}, {"backward", layer.backward}});
  for (const StreamTotal& stream : step.streams)
    streams.push_back({{"stream", stream.stream}, {"busy_seconds", stream.busy}, {"spans", stream.kernels}});
  return {{"steps", step.steps},
          {"annotated", step.annotated},
          {"seconds", step.seconds},
          {"categories", categories_json(step)},
          {"busy", step.busy},
          {"communication", step.communication},
          {"hidden_communication", step.hidden},
          {"classified", step.classified},
          {"device", step.device},
          {"streams", streams},
          {"collectives", collectives_json(step)},
          {"layer_ranges", step.layer_ranges},
          {"layers", layers},
          {"kernels", kernels}};
}

Json time_json(const ComparedTime& time) {
  return {{"measured", time.measured}, {"predicted", time.predicted}, {"difference", time.difference()}};
}

Json comparison_json(const ProfileAnswer& answer) {
  const ProfileComparison& comparison = *answer.comparison;
  Json parts = Json::array(), collectives = Json::array(), layers = Json::array();
  for (const ComparedTime& part : comparison.parts) {
    Json row{{"part", part.key}};
    row.update(time_json(part));
    parts.push_back(std::move(row));
  }
  for (const ComparedCollective& one : comparison.collectives) {
    Json row = key_json(one.key);
    row["calls"] = {{"measured", one.measured_calls}, {"predicted", one.predicted_calls}};
    row["bytes"] = {{"measured", one.sized ? Json(one.measured_bytes) : Json(nullptr)},
                    {"predicted", one.predicted_bytes}};
    row["seconds"] = {{"measured", one.measured_seconds}, {"predicted", one.predicted_seconds}};
    collectives.push_back(std::move(row));
  }
  for (const ComparedLayer& layer : comparison.layers)
    layers.push_back({{"name", layer.name},
                      {"layer", layer.layer},
                      {"forward", time_json(layer.forward)},
                      {"backward", time_json(layer.backward)}});
  return {{"design", answer.design},
          {"accelerator", answer.accelerator},
          {"stage", comparison.stage},
          {"step", time_json(comparison.step)},
          {"parts", parts},
          {"collectives", collectives},
          {"layers", layers},
          {"notes", comparison.notes}};
}

}  // namespace

std::string profile_json(const ProfileAnswer& answer) {
  Json profiles = Json::array();
  for (const RankProfile& rank : answer.ranks)
    profiles.push_back({{"file", rank.file},
                        {"device", rank.device},
                        {"rank", or_null(rank.rank)},
                        {"ranks", or_null(rank.ranks)},
                        {"events", rank.events},
                        {"skipped_events", rank.skipped},
                        {"step", step_json(rank.step)}});
  Json out{{"profiles", profiles}, {"compared", answer.shown}};
  if (answer.comparison) out["comparison"] = comparison_json(answer);
  return json_document(out);
}

}  // namespace shardscape
