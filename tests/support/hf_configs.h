// config.json files of the tests, and what an import says about them.
#pragma once

#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>
#include <algorithm>
#include <string>
#include <vector>

#include "model/huggingface/hf_import.h"

namespace shardscape::test {

// tests/data/hf/NAME.json; empty if there is no such file.
inline QJsonObject config(const QString& name) {
  QFile file(QString(SHARDSCAPE_TEST_DATA "/hf/") + name + ".json");
  return file.open(QIODevice::ReadOnly) ? QJsonDocument::fromJson(file.readAll()).object() : QJsonObject();
}

inline ImportResult imported(const QJsonObject& object) {
  return import_hf_config(QJsonDocument(object).toJson().toStdString(), "config.json");
}

// The field with this key; null if there is none.
inline const ImportField* find(const std::vector<ImportField>& fields, const char* key) {
  const auto it = std::find_if(fields.begin(), fields.end(),
                               [&](const ImportField& f) { return f.key == key; });
  return it == fields.end() ? nullptr : &*it;
}

// "hidden_size top_k "
inline std::string keys_of(const std::vector<ImportField>& fields) {
  std::string out;
  for (const ImportField& field : fields) out += field.key + " ";
  return out;
}

inline std::string listing(const ImportResult& result) {
  std::string out;
  for (const Problem& p : result.problems) out += to_string(p) + "\n";
  return out;
}

}  // namespace shardscape::test
