#include "symbolic/symbol.h"

#include <array>
#include <atomic>
#include <iterator>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <unordered_map>

namespace shardscape {

namespace {

// Names in order have keys in order: the first eight characters, padded with zeros. Comparing two numbers
// decides almost always, and canonical order is compared millions of times while a graph is built.
uint64_t order_key(std::string_view name) {
  uint64_t key = 0;
  for (size_t i = 0; i < sizeof(key); ++i)
    key = key << 8 | (i < name.size() ? static_cast<unsigned char>(name[i]) : 0);
  return key;
}

struct InternedName {
  std::string text;
  uint64_t key = 0;
};

}  // namespace

// An interned name never moves, so reading a name takes no lock.
struct SymbolTable {
  static constexpr uint32_t kChunk = 1024;
  // Canonical order: step and stage (p to Ls), model and workload (b to B), parallel degrees (cp to v).
  static constexpr const char* kStandardNames[] = {"p",  "m",  "nf", "Ls", "b",  "S",   "L",   "D", "H",
                                                   "G",  "Gr", "E",  "F",  "V",  "Vp",  "X",   "K", "B",
                                                   "cp", "tp", "pp", "dp", "ep", "etp", "edp", "v"};
  static_assert(std::size(kStandardNames) == Symbol::kStandardSymbols);

  std::shared_mutex mutex;
  std::unordered_map<std::string_view, uint32_t> ids;
  std::array<std::atomic<InternedName*>, 1024> chunks{};
  uint32_t size = 0;

  SymbolTable() {
    for (const char* name : kStandardNames) add(name);
  }

  // Requires the unique lock.
  uint32_t add(std::string_view name) {
    const uint32_t chunk = size / kChunk;
    if (chunk == chunks.size()) throw std::length_error("too many symbols");
    if (size % kChunk == 0) chunks[chunk].store(new InternedName[kChunk], std::memory_order_release);
    InternedName& slot = chunks[chunk].load(std::memory_order_relaxed)[size % kChunk];
    slot = {std::string(name), order_key(name)};
    ids.emplace(slot.text, size);
    return size++;
  }

  const InternedName& name(uint32_t id) const {
    return chunks[id / kChunk].load(std::memory_order_acquire)[id % kChunk];
  }

  // Never destroyed, because destructors of static objects may print symbols.
  static SymbolTable& instance() {
    static SymbolTable* const table = new SymbolTable;
    return *table;
  }
};

Symbol Symbol::intern(std::string_view name) {
  SymbolTable& table = SymbolTable::instance();
  {
    std::shared_lock lock(table.mutex);
    if (const auto it = table.ids.find(name); it != table.ids.end()) return Symbol(it->second);
  }
  if (!valid_name(name)) throw std::invalid_argument("not a symbol name: '" + std::string(name) + "'");
  std::unique_lock lock(table.mutex);
  if (const auto it = table.ids.find(name); it != table.ids.end()) return Symbol(it->second);
  return Symbol(table.add(name));
}

bool Symbol::valid_name(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  if (name.empty() || !letter(name[0])) return false;
  for (char c : name) {
    if (!letter(c) && !(c >= '0' && c <= '9') && c != '_') return false;
  }
  return true;
}

const std::string& Symbol::name() const { return SymbolTable::instance().name(id_).text; }

std::strong_ordering Symbol::by_name(Symbol a, Symbol b) {
  const SymbolTable& table = SymbolTable::instance();
  const InternedName &left = table.name(a.id_), &right = table.name(b.id_);
  if (left.key != right.key) return left.key <=> right.key;
  return left.text <=> right.text;
}

}  // namespace shardscape
