#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "tyto/data/csv_layout.h"
#include "tyto/data/csv_records.h"
#include "tyto/data/dense_rows.h"
#include "tyto/data/formats.h"
#include "tyto/data/text.h"

namespace tyto {
namespace {

[[noreturn]] void fail_ragged(const Records& records, const CsvLayout& layout, Index fields) {
  records.fail(fmt::format("expected {}, got {}", count_of(layout.fields(), "field"), fields));
}

// A field and its delimiter take a byte at least: shorter records are refused at once, so that the matrix is
// never larger than eight times the file.
Index count_rows(const Sources& sources, const CsvLayout& layout) {
  Index rows = 0;
  for (const Source& source : sources) {
    Records records(source);
    Index count = -Index{layout.has_header};
    for (std::string_view record; records.next(record);)
      if (++count > 0 && std::ssize(record) + 1 < layout.fields()) {
        Index field = 0;
        for (Fields fields(record, layout.delimiter); !fields.done(); ++field) fields.next();
        fail_ragged(records, layout, field);
      }
    if (count <= 0) records.fail_file("no data rows");
    rows += count;
  }
  return rows;
}

class CsvReader {
 public:
  CsvReader(const CsvLayout& layout, Index rows)
      : layout_(layout),
        x_(make_matrix<double>(rows, layout.features)),
        y_(std::ranges::count(layout.role, CsvLayout::kResponse) > 0 ? rows : 0),
        rows_(x_) {}

  void read(const Source& source) {
    Records records(source);
    std::string_view record;
    if (layout_.has_header) records.next(record);
    while (records.next(record)) {
      if (rows_.written() == x_.rows()) records.fail_file(kFileChanged);
      read_row(records, record);
    }
  }

  void finish(const Source& last, Missing policy, Dataset& data) {
    if (rows_.written() != x_.rows()) fail(last.name(), 0, kFileChanged);
    rows_.flush();
    settle(std::move(x_), std::move(y_), missing_, policy, data);
  }

 private:
  void read_row(const Records& records, std::string_view record) {
    const Index i = rows_.written();
    double* row = rows_.next();
    Index field = 0;
    for (Fields fields(record, layout_.delimiter); !fields.done(); ++field) {
      const Index role =
          field < layout_.fields() ? layout_.role[static_cast<std::size_t>(field)] : CsvLayout::kSkipped;
      double value = 0;
      if (role == CsvLayout::kSkipped)
        fields.next();
      else if (!fields.next_if_finite_number(value))
        value = odd_cell(records, fields.next(), field);
      if (role >= 0)
        row[role] = value;
      else if (role == CsvLayout::kResponse)
        y_[i] = value;
    }
    if (field != layout_.fields()) fail_ragged(records, layout_, field);
  }

  // What is not a plain finite number: quoted, missing or wrong.
  double odd_cell(const Records& records, std::string_view text, Index field) {
    double value = std::numeric_limits<double>::quiet_NaN();
    const bool number = is_number(text, value);
    if (is_missing(text) || (number && std::isnan(value))) {
      missing_.add([&] {
        return fmt::format("{}:{}: {}", printable(records.name()), records.line(), layout_.describe(field));
      });
      return std::numeric_limits<double>::quiet_NaN();
    }
    if (!number || std::isinf(value))
      records.fail(fmt::format("{}: expected a {}number, got {}", layout_.describe(field),
                               number ? "finite " : "", in_quotes(text)));
    return value;
  }

  const CsvLayout& layout_;
  DenseMatrix<double> x_;
  Vector y_;
  RowWriter<double> rows_;
  MissingValues missing_;
};

// The last column becomes the weights of the rows.
void split_off_weights(Dataset& data) {
  const Index last = data.design.cols() - 1;
  data.weights.resize(data.design.rows());
  data.design.for_each_entry(last, [&](Index row, double value) { data.weights[row] = value; });
  IndexSet features(static_cast<std::size_t>(last));
  std::iota(features.begin(), features.end(), Index{0});
  data.design = data.design.select(features);
}

}  // namespace

bool looks_like_csv(std::string_view beginning) { return beginning.find('\0') == std::string_view::npos; }

Dataset read_csv(const Sources& sources, const ReadOptions& options) {
  CsvLayout layout = csv_layout(sources[0], options);
  for (std::size_t s = 1; s < sources.size(); ++s)
    check_same_layout(layout, sources[0], sources[s], options.header);
  CsvReader reader(layout, count_rows(sources, layout));
  for (const Source& source : sources) reader.read(source);
  Dataset data;
  reader.finish(sources.back(), options.missing, data);
  data.response_by_name = layout.response_by_name;
  data.warnings = std::move(layout.warnings);
  if (layout.weights != CsvLayout::kSkipped) {
    split_off_weights(data);
    data.weights_name = std::to_string(layout.weights - layout.has_row_names);  // unless it has a name
  }
  for (Index f = 0; f < layout.fields() && layout.has_header; ++f) {
    const Index role = layout.role[static_cast<std::size_t>(f)];
    if (role == CsvLayout::kSkipped) continue;
    std::string& name = layout.header[static_cast<std::size_t>(f - layout.has_row_names)];
    if (role == CsvLayout::kResponse)
      data.response_name = std::move(name);
    else if (f == layout.weights)
      data.weights_name = std::move(name);
    else
      data.names.push_back(std::move(name));
  }
  return data;
}

}  // namespace tyto
