#include "tyto/data/tyto_file.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <system_error>
#include <utility>

#include "tyto/base/checksum.h"
#include "tyto/base/error.h"
#include "tyto/base/json.h"
#include "tyto/data/text.h"

namespace tyto {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are written as they are in memory");

constexpr const char* kFormat = "tyto-columns-1";

template <class Number>
void append(std::string& out, const Number& number) {
  out.append(reinterpret_cast<const char*>(&number), sizeof number);
}

std::uint64_t checksum_of(std::string_view text) {
  return checksum(std::as_bytes(std::span(text.data(), text.size())));
}

// Numbers follow one another, eight bytes each.
template <class Numbers>
void append_all(std::string& out, const Numbers& numbers) {
  for (const auto number : numbers) append(out, number);
}

// The vectors of a description, in the order of the file: those of rows where they are there, and those of
// columns.
template <class Description, class Visit>
void for_each_row_vector(Description& description, Visit visit) {
  visit("response", description.about.response, description.about.response_name);
  visit("weights", description.about.row_weights, description.about.weights_name);
  visit("offset", description.about.offset, description.about.offset_name);
  visit("events", description.about.events, description.about.event_name);
}

// The bytes of the description, taken from the front.
class Taker {
 public:
  Taker(std::string_view bytes, const std::string& path) : bytes_(bytes), path_(path) {}

  std::string_view take(std::uint64_t count) {
    if (count > bytes_.size()) damaged("its description is too short");
    const std::string_view result = bytes_.substr(0, static_cast<std::size_t>(count));
    bytes_.remove_prefix(static_cast<std::size_t>(count));
    return result;
  }
  template <class Number>
  Number number() {
    Number number;
    std::memcpy(&number, take(sizeof number).data(), sizeof number);
    return number;
  }
  template <class Numbers>
  void fill(Numbers& numbers, Index count) {
    const std::string_view bytes = take(8 * static_cast<std::uint64_t>(count));
    numbers.resize(static_cast<decltype(numbers.size())>(count));
    if (count > 0) std::memcpy(numbers.data(), bytes.data(), bytes.size());
  }
  void end() const {
    if (!bytes_.empty()) damaged("its description is too long");
  }
  [[noreturn]] void damaged(std::string_view what) const {
    fail(path_, 0, fmt::format("the file is damaged: {}", what));
  }

 private:
  std::string_view bytes_;
  const std::string& path_;
};

struct FirstBlock {
  std::uint64_t place, size, sum;  // of the description
};

FirstBlock read_first_block(std::istream& file, const std::string& path) {
  std::string block(static_cast<std::size_t>(kTytoBlock), '\0');
  file.read(block.data(), kTytoBlock);
  if (file.gcount() < kTytoBlock) fail(path, 0, "the file is damaged: it ends within its first block");
  Taker taker(block, path);
  const std::string_view magic = taker.take(kTytoMagic.size());
  if (magic == kTytoPartMagic)
    fail(path, 0,
         "the file is not complete: 'tyto convert' was ended early; the same command goes on with it");
  if (magic != kTytoMagic) taker.damaged("it does not begin as a .tyto file");
  const auto version = taker.number<std::uint32_t>();
  if (version != kTytoVersion)
    fail(path, 0, fmt::format("expected version {} of the format, got {}", kTytoVersion, version));
  FirstBlock first{};
  first.place = taker.number<std::uint64_t>();
  first.size = taker.number<std::uint64_t>();
  first.sum = taker.number<std::uint64_t>();
  if (taker.number<std::uint64_t>() != checksum_of(std::string_view(block).substr(0, 36)))
    taker.damaged("the checksum of its first block is wrong");
  return first;
}

StoredType stored_type(const std::string& name, const Taker& taker) {
  for (const StoredTypeRow& row : kStoredTypes)
    if (row.name == name) return row.type;
  taker.damaged("its columns are of an unknown type");
}

// Shape and place of the columns, which are before byte `end`.
void read_shape(const Json& json, std::uint64_t end, const Taker& taker, ColumnFile& file) {
  file.type = stored_type(json.at("type").get<std::string>(), taker);
  file.rows = whole_number_at(json, "rows");
  file.cols = whole_number_at(json, "cols");
  file.stride = whole_number_at(json, "stride");
  file.offset = static_cast<std::uint64_t>(kTytoBlock);
  Index bytes = 0;
  const bool fits = file.rows >= 1 && file.cols >= 1 && file.rows < (Index{1} << 50) &&
                    file.stride >= column_bytes(file.type, file.rows) && file.stride % 64 == 0 &&
                    !__builtin_mul_overflow(file.stride, file.cols, &bytes) &&
                    static_cast<std::uint64_t>(bytes) <= end - file.offset;
  if (!fits) taker.damaged("its shape and its size are at odds");
}

TytoDescription parsed(std::string_view bytes, std::uint64_t end, const std::string& path) {
  Taker taker(bytes, path);
  const std::string_view text = taker.take(taker.number<std::uint64_t>());
  const Json json = parse_json(text, path);
  if (!json.is_object() || json.value("format", "") != kFormat) taker.damaged("its description is not one");
  TytoDescription result;
  result.columns.path = path;
  read_shape(json, end, taker, result.columns);
  const Index n = result.columns.rows, p = result.columns.cols;
  result.about.names = json.at("names").get<std::vector<std::string>>();
  result.about.labels = json.at("labels").get<std::vector<std::string>>();
  if (!result.about.names.empty() && std::ssize(result.about.names) != p)
    taker.damaged("it has not as many names as columns");
  for_each_row_vector(result, [&](const char* field, Vector& numbers, std::string& name) {
    if (!json.contains(field)) return;
    name = json.at(field).get<std::string>();
    taker.fill(numbers, n);
  });
  taker.fill(result.mean, p);
  taker.fill(result.norm, p);
  taker.fill(result.missing, p);
  taker.fill(result.columns.checksums, p);
  taker.end();
  if (result.columns.type == StoredType::kGenotype)
    result.columns.filling.assign(result.mean.begin(), result.mean.end());
  return result;
}

}  // namespace

Index tyto_stride(StoredType type, Index rows) {
  constexpr Index kLine = 64, kLittle = 16;  // to whole blocks where a sixteenth at most is added
  const auto rounded = [](Index bytes, Index to) { return (bytes + to - 1) / to * to; };
  const Index bytes = std::max<Index>(column_bytes(type, rows), 1);
  const Index blocks = rounded(bytes, kTytoBlock);
  return (blocks - bytes) * kLittle <= bytes ? blocks : rounded(bytes, kLine);
}

std::string tyto_description_bytes(const TytoDescription& description) {
  const ColumnFile& file = description.columns;
  Json json{{"format", kFormat},
            {"type", row_of(file.type).name},
            {"rows", file.rows},
            {"cols", file.cols},
            {"stride", file.stride},
            {"names", description.about.names},
            {"labels", description.about.labels}};
  for_each_row_vector(description, [&](const char* field, const Vector& numbers, const std::string& name) {
    if (numbers.size() > 0) json[field] = name;
  });
  const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string bytes;
  append(bytes, static_cast<std::uint64_t>(text.size()));
  bytes += text;
  for_each_row_vector(description, [&](const char*, const Vector& numbers, const std::string&) {
    append_all(bytes, numbers);
  });
  append_all(bytes, description.mean);
  append_all(bytes, description.norm);
  append_all(bytes, description.missing);
  append_all(bytes, file.checksums);
  return bytes;
}

std::string tyto_first_block(std::uint64_t place, std::string_view description) {
  std::string block(kTytoMagic);
  append(block, kTytoVersion);
  append(block, place);
  append(block, static_cast<std::uint64_t>(description.size()));
  append(block, checksum_of(description));
  append(block, checksum_of(block));
  block.resize(static_cast<std::size_t>(kTytoBlock));
  return block;
}

TytoDescription read_tyto_description(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(path, 0, "cannot read");
  std::error_code error;
  const std::uint64_t size = std::filesystem::file_size(path, error);
  if (error) fail(path, 0, "cannot read: " + error.message());
  const FirstBlock first = read_first_block(file, path);
  if (first.place < static_cast<std::uint64_t>(kTytoBlock) || first.place > size ||
      first.size != size - first.place)
    fail(path, 0,
         fmt::format("the file is damaged: expected {} bytes, got {}",
                     first.place > ~first.size ? "very many" : std::to_string(first.place + first.size),
                     size));
  std::string bytes(static_cast<std::size_t>(first.size), '\0');
  file.seekg(static_cast<std::streamoff>(first.place));
  file.read(bytes.data(), static_cast<std::streamsize>(first.size));
  if (static_cast<std::uint64_t>(file.gcount()) != first.size || checksum_of(bytes) != first.sum)
    fail(path, 0, "the file is damaged: the checksum of its description is wrong");
  try {
    return parsed(bytes, first.place, path);
  } catch (const nlohmann::json::exception& fault) {
    fail(path, 0, "the file is damaged: " + json_fault(fault));
  }
}

}  // namespace tyto
