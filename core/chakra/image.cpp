#include "chakra/image.h"

#include <charconv>
#include <cstring>

#include "chakra/digest.h"
#include "chakra/node_encoder.h"
#include "chakra/wire.h"

namespace shardscape {

SlotTexts slot_texts(const RankNumbers& numbers, int roles) {
  SlotTexts texts(numbers.values.size());
  for (size_t s = 0; s < texts.size(); ++s) {
    SlotText& text = texts[s];
    if (s < static_cast<size_t>(roles)) {
      const auto end = std::to_chars(text.bytes.data(), text.bytes.data() + text.bytes.size(),
                                     numbers.values[s])
                           .ptr;
      text.width = static_cast<uint8_t>(end - text.bytes.data());
    } else {
      text.width = static_cast<uint8_t>(
          wire::put_varint(text.bytes.data(), static_cast<uint64_t>(numbers.values[s])));
    }
  }
  return texts;
}

bool same_widths(const SlotTexts& a, const SlotTexts& b) {
  if (a.size() != b.size()) return false;
  for (size_t s = 0; s < a.size(); ++s)
    if (a[s].width != b[s].width) return false;
  return true;
}

TraceImage::TraceImage(const RankProgram& program, const SlotTexts& texts, const std::stop_token& stop)
    : texts_(texts), slots_(texts.size()) {
  NodeEncoder encoder(program, texts);
  bytes_.reserve(static_cast<size_t>(image_size(program, texts)));
  encoder.put_header(bytes_);
  for (size_t n = 0; n < program.nodes.size(); ++n) {
    if (n % 4096 == 0 && stop.stop_requested()) return;
    encoder.put_node(n, bytes_);
    for (const SlotPlace& place : encoder.places()) slots_[place.slot].offsets.push_back(place.offset);
  }
  compute_weights();
}

TraceImage::TraceImage(std::string bytes, SlotTexts texts, std::vector<std::vector<uint32_t>> offsets)
    : bytes_(std::move(bytes)), texts_(std::move(texts)), slots_(texts_.size()) {
  for (size_t s = 0; s < slots_.size(); ++s) slots_[s].offsets = std::move(offsets[s]);
  compute_weights();
}

void TraceImage::compute_weights() {
  uint64_t numbers = 0;
  for (size_t s = 0; s < slots_.size(); ++s) {
    Slot& slot = slots_[s];
    for (size_t k = 0; k < texts_[s].width; ++k) {
      for (const uint32_t offset : slot.offsets)
        slot.weights[k] = poly61_add(slot.weights[k], poly61_weight(offset + k));
      numbers = poly61_add(numbers,
                           poly61_multiply(slot.weights[k], static_cast<uint8_t>(texts_[s].bytes[k])));
    }
  }
  fixed_digest_ = poly61_add(poly61(bytes_), kPoly61Modulus - numbers);
}

void TraceImage::patch(const SlotTexts& texts) {
  for (size_t s = 0; s < slots_.size(); ++s) {
    if (texts[s] == texts_[s]) continue;
    const char* from = texts[s].bytes.data();
    const size_t width = texts[s].width;
    for (const uint32_t offset : slots_[s].offsets) std::memcpy(bytes_.data() + offset, from, width);
  }
  texts_ = texts;
}

uint64_t TraceImage::digest_of(const SlotTexts& texts) const {
  uint64_t sum = fixed_digest_;
  for (size_t s = 0; s < slots_.size(); ++s)
    for (size_t k = 0; k < texts[s].width; ++k)
      sum = poly61_add(sum, poly61_multiply(slots_[s].weights[k], static_cast<uint8_t>(texts[s].bytes[k])));
  return sum;
}

int64_t image_size(const RankProgram& program, const SlotTexts& texts) {
  return NodeEncoder(program, texts).file_size();
}

}  // namespace shardscape
