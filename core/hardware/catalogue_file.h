// Reads a catalogue: all files of one name in the data folders, each with a list of entries with ids. The
// user's file is read last and replaces entries with equal ids. Private to core's .cpp files, because this
// header includes the JSON library.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "hardware/sources.h"
#include "model/json_reader.h"

namespace shardscape {

template <class Item>
struct Catalogue {
  std::vector<Item> items;
  std::vector<Problem> problems;  // mistakes in entries or files, which are left out
  const Item* find(const std::string& id) const {
    const auto it = std::find_if(items.begin(), items.end(), [&](const Item& item) { return item.id == id; });
    return it == items.end() ? nullptr : &*it;
  }
};

using CatalogueEntry = std::function<void(const JsonFile&, const nlohmann::ordered_json&)>;
// Calls `entry` for every element of the list `list` in the files of this name. An element or file that
// throws DataError becomes a problem.
void read_catalogue_files(const std::string& file_name, const std::string& list, const CatalogueEntry& entry,
                          std::vector<Problem>& problems);
// The same for one text; `name` stands for its file in messages.
void read_catalogue_text(const std::string& text, const std::string& name, const std::string& list,
                         const CatalogueEntry& entry, std::vector<Problem>& problems);

// Reads "sources": {"*": text, "key": text}, or "source": text, which means {"*": text}. Throws DataError if
// one of `values` has no source, or if a source names a value that the entry lacks.
Sources read_sources(const JsonFile& file, const nlohmann::ordered_json& entry, const std::string& id,
                     std::initializer_list<const char*> values);

template <class Item>
Catalogue<Item> read_catalogue(const std::string& file_name, const std::string& list,
                               Item (*read)(const JsonFile&, const nlohmann::ordered_json&)) {
  Catalogue<Item> out;
  const auto put = [&](const JsonFile& file, const nlohmann::ordered_json& entry) {
    Item item = read(file, entry);
    if (const Item* there = out.find(item.id))
      out.items[static_cast<size_t>(there - out.items.data())] = std::move(item);
    else
      out.items.push_back(std::move(item));
  };
  read_catalogue_files(file_name, list, put, out.problems);
  return out;
}

}  // namespace shardscape
