// A catalogue: files of one name in the data folders, each with a list of entries that have ids. A person's own file is read last and
// replaces entries by id. Private to core's .cpp files, as the JSON reader is.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "machine/sources.h"
#include "model/json_reader.h"

namespace shardscape {

template <class Item>
struct Catalogue {
  std::vector<Item> items;
  std::vector<Problem> problems;  // what was left out, entries or whole files
  const Item* find(const std::string& id) const {
    const auto it = std::find_if(items.begin(), items.end(), [&](const Item& item) { return item.id == id; });
    return it == items.end() ? nullptr : &*it;
  }
};

// Hands on every entry of the lists in the files of this name; an entry or file that throws DataError becomes a problem.
void read_catalogue_files(const std::string& file_name, const std::string& list,
                          const std::function<void(const JsonFile&, const nlohmann::ordered_json&)>& entry, std::vector<Problem>& problems);

// "sources": {"*": text, "key": text}, or "source": text for {"*": text}. Fails on an entry of these values that no source covers, and
// on a source of a value that the entry lacks.
Sources read_sources(const JsonFile& file, const nlohmann::ordered_json& entry, const std::string& id, std::initializer_list<const char*> values);

template <class Item>
Catalogue<Item> read_catalogue(const std::string& file_name, const std::string& list,
                               Item (*read)(const JsonFile&, const nlohmann::ordered_json&)) {
  Catalogue<Item> out;
  const auto put = [&](const JsonFile& file, const nlohmann::ordered_json& entry) {
    Item item = read(file, entry);
    if (const Item* there = out.find(item.id)) out.items[static_cast<size_t>(there - out.items.data())] = std::move(item);
    else out.items.push_back(std::move(item));
  };
  read_catalogue_files(file_name, list, put, out.problems);
  return out;
}

}  // namespace shardscape
