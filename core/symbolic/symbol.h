// Interned symbols. The standard symbols (p, m, b, S, L, D, ...) come first in canonical order; all others
// follow by name.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace shardscape {

class Symbol {
 public:
  // Finds or adds a symbol; thread-safe. A name is a letter followed by letters, digits or '_'; any other
  // name throws std::invalid_argument.
  static Symbol intern(std::string_view name);
  static bool valid_name(std::string_view name);
  const std::string& name() const;
  uint32_t id() const { return id_; }                        // dense index
  static Symbol from_id(uint32_t id) { return Symbol(id); }  // requires the id of an interned symbol
  friend bool operator==(Symbol a, Symbol b) = default;
  friend std::strong_ordering operator<=>(Symbol a, Symbol b) {  // canonical order
    if (a.id_ < kStandardSymbols || b.id_ < kStandardSymbols || a.id_ == b.id_) return a.id_ <=> b.id_;
    return by_name(a, b);
  }

 private:
  static constexpr uint32_t
      kStandardSymbols = 26;  // the standard symbols have the ids 0 to 25, in canonical order
  static std::strong_ordering by_name(Symbol a, Symbol b);
  friend struct SymbolTable;
  explicit Symbol(uint32_t id) : id_(id) {}
  uint32_t id_;
};

}  // namespace shardscape
