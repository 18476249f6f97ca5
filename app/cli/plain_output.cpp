#include "app/cli/plain_output.h"

#include <algorithm>
#include <streambuf>
#include <string_view>

#include "base/shown_text.h"

namespace shardscape {
namespace {

bool is_control(char c) {
  return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7F;
}

// The control characters of Latin-1, U+0080 to U+009F, in UTF-8.
bool is_latin_control(std::string_view text) {
  return text.size() > 1 && text[0] == '\xC2' && static_cast<unsigned char>(text[1]) >= 0x80 &&
         static_cast<unsigned char>(text[1]) < 0xA0;
}

}  // namespace

class PlainOutput::Buffer : public std::streambuf {
 public:
  explicit Buffer(std::streambuf* target) : target_(target) {}
  std::streambuf* target() const { return target_; }

 protected:
  int_type overflow(int_type c) override {
    if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
    const char letter = traits_type::to_char_type(c);
    return xsputn(&letter, 1) == 1 ? c : traits_type::eof();
  }
  std::streamsize xsputn(const char* letters, std::streamsize size) override {
    std::string_view rest(letters, static_cast<size_t>(size));
    while (!rest.empty()) {
      const size_t plain = plain_letters(rest);
      if (!write(rest.substr(0, plain))) return 0;
      rest.remove_prefix(plain);
      if (rest.empty()) break;
      const size_t control = is_control(rest[0]) ? 1 : 2;
      if (!write(printable(std::string(rest.substr(0, control))))) return 0;
      rest.remove_prefix(control);
    }
    return size;
  }
  int sync() override { return target_->pubsync(); }

 private:
  static size_t plain_letters(std::string_view text) {
    for (size_t at = 0; at < text.size(); ++at)
      if (is_control(text[at]) || is_latin_control(text.substr(at))) return at;
    return text.size();
  }
  bool write(std::string_view text) {
    return target_->sputn(text.data(), static_cast<std::streamsize>(text.size())) ==
           static_cast<std::streamsize>(text.size());
  }

  std::streambuf* target_;
};

PlainOutput::PlainOutput(std::ostream& stream)
    : stream_(stream), buffer_(std::make_unique<Buffer>(stream.rdbuf())) {
  stream_.rdbuf(buffer_.get());
}

PlainOutput::~PlainOutput() {
  const std::ios_base::iostate state = stream_.rdstate();
  stream_.rdbuf(buffer_->target());
  stream_.setstate(state);
}

}  // namespace shardscape
