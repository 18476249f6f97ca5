// The arguments of a serving engine, by common name (server_flags.h), and what became of each.
#pragma once

#include <string>
#include <vector>

#include "launch/launch_fields.h"
#include "launch/launch_import.h"
#include "launch/launch_parts.h"
#include "launch/server/server_text.h"
#include "serving/service/service_spec.h"

namespace shardscape {

class ServerFields : public LaunchFields {
 public:
  ServerFields(const ServerText& text, int64_t ranks);

  EngineKind engine() const { return text_.engine; }
  const ServerText& source() const { return text_; }
  const ServiceSpec& spec() const { return spec_; }

  // Sets a knob to what follows from an argument by a rule of the engine.
  void follow(const char* knob, const std::string& value, const std::string& argument,
              const std::string& rule, const std::string& source);
  void follow(const char* knob, int64_t value, const std::string& argument, const std::string& rule,
              const std::string& source) {
    follow(knob, std::to_string(value), argument, rule, source);
  }
  void take_model(const NamedModel& model, const std::string& given);

  // Sets a setting of the service from an argument. Refused values are not understood.
  void serve(const std::string& setting, const std::string& value, const std::string& argument);
  // The engine's default, where that of the service is another one.
  void assume(const std::string& setting, const std::string& value, const std::string& source);

  // Fields have the names of the text, or else those of the engine's documentation.
  LaunchDesign finish();
  std::vector<LaunchSetting> take_settings() { return std::move(settings_); }

 private:
  bool keep(const std::string& setting, const std::string& value, std::string& problem);

  const ServerText& text_;
  ServiceSpec spec_;
  std::vector<LaunchSetting> settings_;
};

// The settings of the scheduler and the cache, speculative decoding, and the types of weights and cache.
void read_server_engine(ServerFields& fields);
void read_speculation(ServerFields& fields);

}  // namespace shardscape
