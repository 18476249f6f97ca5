// The reader of untrusted JSON: each limit, the place in the message, and the values that it makes.
#include "base/json_text.h"

#include <QtTest>
#include <nlohmann/json.hpp>

#include "base/problem.h"

using namespace shardscape;
using nlohmann::json;
using nlohmann::ordered_json;

namespace {

std::string nested(size_t levels, const char* open, const char* inside, const char* close) {
  std::string out, end;
  for (size_t i = 0; i < levels; ++i) {
    out += open;
    end += close;
  }
  return out + inside + end;
}

template <class Json>
std::string refused(const std::string& text, const JsonRules& rules = {}) {
  Json out;
  const auto problem = read_json(text, "f.json", out, rules);
  return problem ? std::string(code_text(problem->code)) + " " + to_string(*problem) : "";
}

}  // namespace

class JsonTextTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void refusals_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QByteArray>("said");
    const auto row = [](const char* name, const std::string& text, const char* said) {
      QTest::newRow(name) << QByteArray::fromStdString(text) << QByteArray(said);
    };
    const char* const deep =
        "json-syntax f.json:1: objects and lists are inside each other on more than 100 levels; accepted: at "
        "most 100 levels of objects and lists";
    row("101 lists", nested(101, "[", "1", "]"), deep);
    row("101 objects", nested(101, "{\"a\":", "1", "}"), deep);
    row("100,000 lists", nested(100'000, "[", "1", "]"), deep);
    row("100,000 lists without end", std::string(100'000, '['), deep);
    row("number too large", "{\"a\": 1,\n \"b\": [1e999]}",
        "json-value-unreadable f.json:2: \"b\": the number 1e999 is out of range; accepted: numbers within "
        "the "
        "range of a double");
    row("number too large on its own", "\n-1e999",
        "json-value-unreadable f.json:2: the number -1e999 is out of range");
    row("long number", "[" + std::string(400, '9') + "]", "json-value-unreadable f.json:1: the number 9999");
    row("key twice", "{\"a\": 1,\n \"b\": 2,\n \"a\": 3}",
        "json-syntax f.json:3: the key \"a\" is there twice; accepted: one value per key");
    row("key twice, escaped", "{\"a\\\"b\": 1,\n \"a\\\"b\": 3}", "json-syntax f.json:2: the key \"a\"b\"");
    row("key twice inside", "{\"x\": [{\"a\": 1}, {\"a\": 1, \"a\": 2}]}",
        "json-syntax f.json:1: the key \"a\"");
    row("no UTF-8", "{\"a\":\n \"\xff\"}",
        "json-syntax f.json:2: the text is not JSON: a text is not UTF-8; accepted: JSON");
    row("key without UTF-8", "{\"\xc3(\": 1}",
        "json-syntax f.json:1: the text is not JSON: a text is not UTF-8");
    row("half of a pair", "[\"\\ud800\"]", "a text holds half of a pair of \\u characters");
    row("no hexadecimal digits", "[\"\\u12x4\"]", "\\u is not followed by four hexadecimal digits");
    row("unknown escape", "[\"\\q\"]", "a text holds a backslash before an unknown letter");
    row("line break in a text", "[\"a\nb\"]", "a text holds a line break or another control character");
    row("empty", "", "json-syntax f.json:1: the text is not JSON: the text ends too early");
    row("cut off", "{\"a\":\n[1,", "json-syntax f.json:2: the text is not JSON: the text ends too early");
    row("text behind it", "{}\n{}", "json-syntax f.json:2: the text is not JSON: unexpected '{'");
    row("no closing quote", "[\"abc", "a text has no closing quote");
    row("word", "[true,\nfour]", "json-syntax f.json:2: the text is not JSON: unexpected \"four\"");
    row("long word", "[-" + std::string(10'000, 'a'), "json-syntax f.json:1: ");
  }
  void refusals() {
    QFETCH(QByteArray, text);
    QFETCH(QByteArray, said);
    const std::string unordered = refused<json>(text.toStdString());
    QVERIFY2(unordered.find(said.toStdString()) != std::string::npos, unordered.c_str());
    QCOMPARE(refused<ordered_json>(text.toStdString()), unordered);
    QVERIFY2(unordered.find("json.exception") == std::string::npos, unordered.c_str());
    QVERIFY2(unordered.size() < 300, unordered.c_str());
  }

  void accepts() {
    for (const std::string& text :
         {nested(100, "[", "1", "]"), nested(100, "{\"a\":", "1", "}"), std::string("\xef\xbb\xbf{}"),
          std::string("{\"a\": {\"a\": 1}, \"b\": {\"a\": 2}}"), std::string("[1e308, -1e308, 5e-324]"),
          std::string("[18446744073709551615, -9223372036854775808]"), std::string("\"\xf0\x9f\x98\x80\""),
          std::string("[[[[]],[]]]")}) {
      ordered_json ordered;
      json plain;
      QVERIFY2(!parse_json(text, ordered) && !parse_json(text, plain), text.c_str());
      QVERIFY(ordered == ordered_json::parse(text));
      QVERIFY(plain == json::parse(text));
    }
  }

  void repeated_keys() {
    const std::string text = R"({"a": 1, "b": 2, "a": {"c": 3}})";
    const JsonRules rules{.repeated = RepeatedKeys::LastCounts};
    ordered_json ordered;
    QVERIFY(!parse_json(text, ordered, rules));
    QCOMPARE(ordered.dump(), std::string(R"({"a":{"c":3},"b":2})"));
    json plain;
    QVERIFY(!parse_json(text, plain, rules));
    QCOMPARE(plain.dump(), std::string(R"({"a":{"c":3},"b":2})"));
  }

  void size() {
    QCOMPARE(refused<json>("[1, 2]", {.longest = 6}), std::string());
    QCOMPARE(refused<json>("[1, 2]", {.longest = 5}),
             std::string("json-value-unreadable f.json:1: the text has 6 bytes; accepted: at most 5 bytes"));
  }

  void reasons() {
    try {
      (void)json(5).get<std::string>();
      QFAIL("a number is no text");
    } catch (const json::exception& error) {
      QCOMPARE(json_reason(error), std::string("type must be string, but is number"));
    }
  }
};

QTEST_APPLESS_MAIN(JsonTextTest)
#include "json_text_test.moc"
