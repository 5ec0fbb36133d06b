#include "tyto/data/write.h"

#include <array>
#include <charconv>
#include <string_view>

namespace tyto {
namespace {

void append_number(std::string& out, double value) {
  std::array<char, 32> digits;
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  out.append(digits.data(), end);
}

void append_field(std::string& out, std::string_view text) {
  if (!text.empty() && text.find_first_of(",;\"\t\r\n ") == std::string_view::npos) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

void append_header(std::string& out, const Dataset& data) {
  for (std::size_t j = 0; j < data.names.size(); ++j) {
    if (j > 0) out += ',';
    append_field(out, data.names[j]);
  }
  if (data.response.size() > 0) {
    out += ',';
    append_field(out, data.response_name.empty() ? "y" : data.response_name);
  }
  out += '\n';
}

// The non-zero entries by rows: those of row i are start[i] .. start[i + 1] - 1.
struct Rows {
  std::vector<Index> start, column;
  std::vector<double> value;
};

Rows rows_of(const Design& x) {
  Rows rows;
  rows.start.assign(static_cast<std::size_t>(x.rows() + 1), 0);
  for (Index j = 0; j < x.cols(); ++j)
    x.for_each_entry(
        j, [&](Index i, double value) { rows.start[static_cast<std::size_t>(i + 1)] += value != 0; });
  for (std::size_t i = 1; i < rows.start.size(); ++i) rows.start[i] += rows.start[i - 1];
  rows.column.resize(static_cast<std::size_t>(rows.start.back()));
  rows.value.resize(rows.column.size());
  std::vector<Index> next = rows.start;
  for (Index j = 0; j < x.cols(); ++j)
    x.for_each_entry(j, [&](Index i, double value) {
      if (value == 0) return;
      const auto k = static_cast<std::size_t>(next[static_cast<std::size_t>(i)]++);
      rows.column[k] = j;
      rows.value[k] = value;
    });
  return rows;
}

}  // namespace

std::string to_csv(const Dataset& data) {
  const Rows rows = rows_of(data.design);
  const Index cols = data.design.cols();
  std::string out;
  if (!data.names.empty()) append_header(out, data);
  std::size_t k = 0;
  for (Index i = 0; i < data.design.rows(); ++i) {
    const auto end = static_cast<std::size_t>(rows.start[static_cast<std::size_t>(i + 1)]);
    for (Index j = 0; j < cols; ++j) {
      if (j > 0) out += ',';
      append_number(out, k < end && rows.column[k] == j ? rows.value[k++] : 0.0);
    }
    if (data.response.size() > 0) {
      out += ',';
      append_number(out, data.response[i]);
    }
    out += '\n';
  }
  return out;
}

std::string to_libsvm(const Dataset& data) {
  const Rows rows = rows_of(data.design);
  std::string out;
  std::size_t k = 0;
  for (Index i = 0; i < data.design.rows(); ++i) {
    append_number(out, data.response.size() > 0 ? data.response[i] : 0.0);
    for (const auto end = static_cast<std::size_t>(rows.start[static_cast<std::size_t>(i + 1)]); k < end;
         ++k) {
      out += ' ';
      out += std::to_string(rows.column[k] + 1);
      out += ':';
      append_number(out, rows.value[k]);
    }
    out += '\n';
  }
  return out;
}

}  // namespace tyto
