#include "tests/support/files.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <stdexcept>

namespace tyto {

Eigen::MatrixXd dense_copy(const Design& x) {
  Eigen::MatrixXd copy = Eigen::MatrixXd::Zero(x.rows(), x.cols());
  for (Index j = 0; j < x.cols(); ++j)
    x.for_each_entry(j, [&](Index i, double value) { copy(i, j) = value; });
  return copy;
}

std::string compressed(std::string_view contents, std::string_view extension) {
  archive* a = archive_write_new();
  archive_write_set_format_raw(a);
  const int filter = extension == "gz"    ? archive_write_add_filter_gzip(a)
                     : extension == "bz2" ? archive_write_add_filter_bzip2(a)
                     : extension == "xz"  ? archive_write_add_filter_xz(a)
                                          : archive_write_add_filter_zstd(a);
  std::string out(contents.size() + 65536, '\0');
  std::size_t used = 0;
  archive_write_set_bytes_in_last_block(a, 1);
  archive_entry* entry = archive_entry_new();
  archive_entry_set_filetype(entry, AE_IFREG);
  const bool written =
      filter == ARCHIVE_OK && archive_write_open_memory(a, out.data(), out.size(), &used) == ARCHIVE_OK &&
      archive_write_header(a, entry) == ARCHIVE_OK &&
      archive_write_data(a, contents.data(), contents.size()) >= 0 && archive_write_close(a) == ARCHIVE_OK;
  archive_entry_free(entry);
  archive_write_free(a);
  if (!written) throw std::runtime_error(fmt::format("cannot compress as {}", extension));
  out.resize(used);
  return out;
}

std::string npy_file(std::string_view type, std::string_view shape, std::string_view bytes,
                     bool fortran_order, int version) {
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}", type,
                                 fortran_order ? "True" : "False", shape);
  const std::size_t prefix = version == 1 ? 10 : 12;
  while ((prefix + text.size() + 1) % 64 != 0) text += ' ';
  text += '\n';
  std::string file("\x93NUMPY", 6);
  file += static_cast<char>(version);
  file += '\0';
  for (std::size_t i = 0; i < prefix - 8; ++i) file += static_cast<char>(text.size() >> (8 * i) & 0xff);
  return file + text + std::string(bytes);
}

}  // namespace tyto
