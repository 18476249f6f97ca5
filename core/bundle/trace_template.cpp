#include "bundle/trace_template.h"

#include <algorithm>

#include "chakra/chakra.h"
#include "chakra/wire.h"

namespace shardscape {
namespace {

// Reads the protobuf wire format of a part of a file. Every function returns false at a damaged place.
class WireReader {
 public:
  WireReader(std::string_view file, size_t at, size_t end) : file_(file), at_(at), end_(end) {}
  bool done() const { return at_ == end_; }
  size_t at() const { return at_; }

  bool varint(uint64_t& value) {
    value = 0;
    for (int shift = 0; shift < 64 && at_ < end_; shift += 7) {
      const auto byte = static_cast<unsigned char>(file_[at_++]);
      value |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }
  // A length and as many bytes; at() is then after them.
  bool block(size_t& begin) {
    uint64_t size = 0;
    if (!varint(size) || size > end_ - at_) return false;
    begin = at_;
    at_ += size;
    return true;
  }
  // The value of a field of this type; only those that traces have.
  bool skip(uint64_t type) {
    uint64_t value = 0;
    size_t begin = 0;
    return type == static_cast<uint64_t>(wire::Type::Varint)  ? varint(value)
           : type == static_cast<uint64_t>(wire::Type::Bytes) ? block(begin)
                                                              : false;
  }

 private:
  std::string_view file_;
  size_t at_, end_;
};

void put_varint(std::string& out, uint64_t value) { wire::Writer(out).varint(value); }

}  // namespace

class TemplateReader {
 public:
  TemplateReader(TraceTemplate& out, const std::map<std::string, size_t>& groups,
                 const std::map<int64_t, size_t>& ranks)
      : out_(out), file_(out.file_), groups_(groups), ranks_(ranks) {}

  bool run() {
    WireReader reader(file_, 0, file_.size());
    for (bool metadata = true; !reader.done(); metadata = false) {
      TraceTemplate::Message message{.length = reader.at()};
      if (!reader.block(message.body)) return false;
      message.end = reader.at();
      if (metadata) continue;
      if (!read_node(message)) return false;
      if (!message.places.empty()) out_.messages_.push_back(std::move(message));
    }
    return true;
  }
  const std::string& problem() const { return problem_; }

 private:
  bool read_node(TraceTemplate::Message& message) {
    WireReader reader(file_, message.body, message.end);
    while (!reader.done()) {
      uint64_t tag = 0;
      if (!reader.varint(tag)) return false;
      TraceTemplate::Place place{.attr_length = reader.at()};
      const bool attr = tag == (uint64_t{chakra::node_field::kAttr} << 3 | 2);
      if (attr ? !reader.block(place.attr) : !reader.skip(tag & 7)) return false;
      if (!attr) continue;
      place.attr_end = reader.at();
      if (!read_attr(place, message)) return false;
    }
    return true;
  }

  bool read_attr(TraceTemplate::Place place, TraceTemplate::Message& message) {
    WireReader reader(file_, place.attr, place.attr_end);
    std::string_view name;
    while (!reader.done()) {
      uint64_t tag = 0, number = 0;
      if (!reader.varint(tag)) return false;
      const size_t at = reader.at();
      if (tag == (uint64_t{chakra::attr_field::kName} << 3 | 2)) {
        size_t begin = 0;
        if (!reader.block(begin)) return false;
        name = file_.substr(begin, reader.at() - begin);
      } else if (name == "pg_name" && tag == (uint64_t{chakra::attr_field::kString} << 3 | 2)) {
        if (!reader.block(place.value)) return false;
        place.value_length = at;
        place.value_end = reader.at();
        const std::string text(file_.substr(place.value, place.value_end - place.value));
        if (!add(place, message, groups_, text, "group \"" + text + "\"")) return false;
      } else if ((name == "comm_src" || name == "comm_dst") && tag == uint64_t{chakra::attr_field::kInt32}
                                                                          << 3) {
        if (!reader.varint(number)) return false;
        place.value = at;
        place.value_end = reader.at();
        if (!add(place, message, ranks_, static_cast<int64_t>(number), "rank " + std::to_string(number)))
          return false;
      } else if (!reader.skip(tag & 7)) {
        return false;
      }
    }
    return true;
  }

  template <class Key>
  bool add(TraceTemplate::Place& place, TraceTemplate::Message& message, const std::map<Key, size_t>& slots,
           const Key& key, const std::string& what) {
    const auto found = slots.find(key);
    if (found == slots.end()) {
      problem_ = "a node names " + what + ", which the class does not list";
      return false;
    }
    // An attribute has one value.
    if (!message.places.empty() && message.places.back().attr == place.attr) return false;
    place.slot = found->second;
    message.places.push_back(place);
    return true;
  }

  TraceTemplate& out_;
  std::string_view file_;
  const std::map<std::string, size_t>& groups_;
  const std::map<int64_t, size_t>& ranks_;
  std::string problem_;
};

Result<TraceTemplate> TraceTemplate::read(std::string file, const std::map<std::string, size_t>& groups,
                                          const std::map<int64_t, size_t>& ranks, const std::string& where) {
  TraceTemplate out;
  out.file_ = std::move(file);
  out.slots_ = groups.size() + ranks.size();
  TemplateReader reader(out, groups, ranks);
  if (reader.run()) return out;
  return Problem{ProblemCode::TraceFormat, where,
                 reader.problem().empty() ? "the file is damaged or no Chakra trace" : reader.problem(),
                 "a file that shardscape-cli export --compact wrote"};
}

TraceImage TraceTemplate::image(const SlotTexts& texts) const {
  std::string bytes;
  bytes.reserve(file_.size() + file_.size() / 64);
  std::vector<std::vector<uint32_t>> offsets(texts.size());
  size_t at = 0;
  const auto copy_to = [&](size_t end) {
    bytes.append(file_, at, end - at);
    at = end;
  };
  // Bytes of an attribute with its new number.
  const auto attr_size = [&](const Place& place) {
    const size_t width = texts[place.slot].width;
    const size_t prefix = place.value_length == 0 ? 0 : wire::varint_size(width);
    const size_t before = place.value_end - (place.value_length == 0 ? place.value : place.value_length);
    return place.attr_end - place.attr - before + prefix + width;
  };
  for (const Message& message : messages_) {
    copy_to(message.length);
    size_t body = message.end - message.body;
    for (const Place& place : message.places) {
      const size_t size = attr_size(place);
      body += size + wire::varint_size(size) - (place.attr_end - place.attr_length);
    }
    put_varint(bytes, body);
    at = message.body;
    for (const Place& place : message.places) {
      copy_to(place.attr_length);
      put_varint(bytes, attr_size(place));
      at = place.attr;
      copy_to(place.value_length == 0 ? place.value : place.value_length);
      if (place.value_length != 0) put_varint(bytes, texts[place.slot].width);
      offsets[place.slot].push_back(static_cast<uint32_t>(bytes.size()));
      bytes += texts[place.slot].view();
      at = place.value_end;
    }
  }
  copy_to(file_.size());
  return {std::move(bytes), texts, std::move(offsets)};
}

}  // namespace shardscape
