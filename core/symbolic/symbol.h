// Interned symbols. The house symbols (m, b, S, L, D, ...) come first in canonical order, others follow by name.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace shardscape {

class Symbol {
 public:
  // Finds or adds; thread safe. A name is a letter followed by letters, digits or '_'.
  static Symbol intern(std::string_view name);
  static bool valid_name(std::string_view name);
  const std::string& name() const;
  uint32_t id() const { return id_; }  // dense, usable as an index
  static Symbol from_id(uint32_t id) { return Symbol(id); }  // of an interned symbol
  friend bool operator==(Symbol a, Symbol b) = default;
  friend std::strong_ordering operator<=>(Symbol a, Symbol b) {  // canonical order
    if (a.id_ < kHouse || b.id_ < kHouse || a.id_ == b.id_) return a.id_ <=> b.id_;
    return by_name(a, b);
  }

 private:
  static constexpr uint32_t kHouse = 26;  // the house symbols hold the first ids, in canonical order
  static std::strong_ordering by_name(Symbol a, Symbol b);
  friend struct SymbolTable;
  explicit Symbol(uint32_t id) : id_(id) {}
  uint32_t id_;
};

}  // namespace shardscape
