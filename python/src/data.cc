// Data files, by the library's readers.
#include <nanobind/eigen/dense.h>

#include "binding/reading.h"
#include "bindings.h"
#include "run.h"
#include "tyto/base/error.h"
#include "tyto/data/convert.h"
#include "tyto/data/dataset.h"
#include "tyto/data/formats.h"
#include "tyto/data/text.h"

namespace tyto::python {
namespace {

using binding::parsed;

// Columns or files that an option names.
std::optional<std::string> ReadOptions::*named(const std::string& option) {
  if (option == "target") return &ReadOptions::target;
  if (option == "response") return &ReadOptions::response;
  if (option == "sample_weight") return &ReadOptions::weights;
  if (option == "offset") return &ReadOptions::offset;
  return &ReadOptions::event;
}

void add_read_options(nb::module_& module) {
  nb::class_<ReadOptions>(module, "ReadOptions")
      .def(nb::init<>())
      .def_rw("format", &ReadOptions::format)
      .def_rw("target_optional", &ReadOptions::target_optional)
      .def_rw("text_labels", &ReadOptions::text_labels)
      .def_rw("drop", &ReadOptions::drop)
      .def_rw("features", &ReadOptions::features)
      .def_rw("memory", &ReadOptions::memory)
      .def("set_place", [](ReadOptions& options, const std::string& option,
                           const std::string& place) { options.*named(option) = place; })
      .def("set_one_hot",
           [](ReadOptions& options, const std::vector<std::string>& columns) {
             for (const std::string& column : columns) options.one_hot.push_back({column, {}});
           })
      .def("set_missing", [](ReadOptions& o,
                             const std::string& word) { o.missing = parsed(kMissingWords, "missing", word); })
      .def("set_header",
           [](ReadOptions& o, const std::string& word) {
             o.header = parsed(binding::kHeaderWords, "header", word);
           })
      .def("set_decimal", [](ReadOptions& o, const std::string& word) {
        o.decimal = parsed(binding::kDecimalWords, "decimal", word);
      });
}

nb::list in_utf8(const std::vector<std::string>& words) {
  nb::list list;
  for (const std::string& word : words) list.append(valid_utf8(word));
  return list;
}

nb::dict parts(const Dataset& data) {
  nb::dict dict;
  dict["design"] = data.design;
  dict["response"] = data.response;
  dict["response_name"] = valid_utf8(data.response_name);
  dict["names"] = in_utf8(data.names);
  dict["labels"] = in_utf8(data.labels);
  dict["row_weights"] = data.row_weights;
  dict["offset"] = data.offset;
  dict["events"] = data.events;
  dict["dropped_rows"] = data.dropped_rows;
  dict["dropped_columns"] = in_utf8(data.dropped_columns);
  dict["filled"] = data.filled;
  dict["warnings"] = in_utf8(data.warnings);
  return dict;
}

#ifdef TYTO_READERS
nb::dict read_files(const std::vector<std::string>& files, const ReadOptions& options) {
  const auto work = [files, options](Watch&) { return read(files, options); };
  return parts(run(work, nb::none()));
}

Vector read_column(const std::string& file, Index rows) { return read_numbers(file, rows, "the response"); }

void convert_files(const std::vector<std::string>& files, const ReadOptions& options,
                   const std::string& output, Index memory) {
  const ConvertOptions asked{options, output, memory};
  const auto work = [files, asked](Watch& watch) {
    ConvertOptions all = asked;
    all.progress = [&](const char*, Index) { return watch.report({0, 1, 0}); };
    return convert(files, all);
  };
  run(work, nb::none());
}

bool stays_in_files(const std::vector<std::string>& files, const ReadOptions& options) {
  return reads_columns(files, options);
}
#else
[[noreturn]] void refuse() {
  throw InvalidArgument(
      "open: want a package that was built with readers (TYTO_READERS=ON), got one without");
}
nb::dict read_files(const std::vector<std::string>&, const ReadOptions&) { refuse(); }
Vector read_column(const std::string&, Index) { refuse(); }
void convert_files(const std::vector<std::string>&, const ReadOptions&, const std::string&, Index) {
  refuse();
}
bool stays_in_files(const std::vector<std::string>&, const ReadOptions&) { refuse(); }
#endif

}  // namespace

void add_data(nb::module_& module) {
  add_read_options(module);
  module.def("read", &read_files, nb::arg("files"), nb::arg("options"));
  module.def("read_column", &read_column, nb::arg("file"), nb::arg("rows"));
  module.def("reads_columns", &stays_in_files, nb::arg("files"), nb::arg("options"));
  module.def("convert", &convert_files, nb::arg("files"), nb::arg("options"), nb::arg("output"),
             nb::arg("memory"));
}

}  // namespace tyto::python
