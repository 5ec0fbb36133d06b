#include "tyto/data/other_kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

#include "tyto/data/text.h"

namespace tyto {
namespace {

using namespace std::string_view_literals;

// FILE in a piece of advice is the file's name, STEM the same without its extension.
constexpr std::string_view kPython = "read it in Python: tyto.open(\"FILE\")";
constexpr std::string_view kSaveAsCsv = "save the table as CSV";

struct Kind {
  std::size_t at;  // where the mark stands in the file
  std::string_view mark;
  std::string_view what, advice;
  bool binary = true;  // bytes that no text has are there too
};

constexpr std::array kKinds{
    Kind{0, "PAR1"sv, "Parquet", kPython},
    Kind{0, "ARROW1"sv, "Arrow or Feather", kPython},
    Kind{0, "FEA1"sv, "Feather", kPython},
    Kind{0, "\x89HDF\r\n\x1a\n"sv, "HDF5, as .h5ad is", kPython},
    Kind{0, "\x6c\x1b\x00"sv, "a PLINK .bed in the order of samples",
         "plink --bfile STEM --make-bed --out NEW writes it in the order of variants"},
    Kind{0, "\x6c\x1b\x02"sv, "PLINK 2's .pgen", "plink2 --pfile STEM --make-bed --out STEM"},
    Kind{0, "\x6c\x1b\x03"sv, "PLINK 2's .pgen", "plink2 --pfile STEM --make-bed --out STEM"},
    Kind{0, "\x6c\x1b\x04"sv, "PLINK 2's .pgen", "plink2 --pfile STEM --make-bed --out STEM"},
    Kind{0, "\x6c\x1b\x10"sv, "PLINK 2's .pgen", "plink2 --pfile STEM --make-bed --out STEM"},
    Kind{0, "\x6c\x1b\x11"sv, "PLINK 2's .pgen", "plink2 --pfile STEM --make-bed --out STEM"},
    Kind{16, "bgen"sv, "BGEN", "plink2 --bgen FILE ref-first --make-bed --out STEM"},
    Kind{0, "BCF\x02"sv, "BCF", "plink2 --bcf FILE --make-bed --out STEM"},
    Kind{0, "##fileformat=VCF"sv, "VCF", "plink2 --vcf FILE --make-bed --out STEM", false},
    Kind{30, "[Content_Types].xml"sv, "an Excel workbook", kSaveAsCsv},
    Kind{30, "_rels/"sv, "an Excel workbook", kSaveAsCsv},
    Kind{0, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"sv, "an old Excel workbook", kSaveAsCsv},
    Kind{30, "mimetypeapplication/vnd.oasis"sv, "an OpenDocument file", kSaveAsCsv},
    Kind{0, "PK\x03\x04"sv, "a zip archive", "unpack it"},
    Kind{0, "PK\x05\x06"sv, "an empty zip archive", "give the data file"},
    Kind{0, "%PDF-"sv, "a PDF", kSaveAsCsv},
    Kind{0, "MATLAB 5.0 MAT-file"sv, "a MATLAB file", "scipy.io.loadmat reads it, numpy.save writes .npy"},
    Kind{0, "SQLite format 3\0"sv, "an SQLite database", kSaveAsCsv},
    Kind{0, "X\n\0\0"sv, "an R object", "readRDS reads it, write.csv writes CSV"},
    Kind{0, "RDX2\n"sv, "R data", "load() reads it in R, write.csv writes CSV"},
    Kind{0, "RDX3\n"sv, "R data", "load() reads it in R, write.csv writes CSV"},
    Kind{0, "\x80\x02"sv, "a Python pickle", "numpy.save writes .npy"},
    Kind{0, "\x80\x03"sv, "a Python pickle", "numpy.save writes .npy"},
    Kind{0, "\x80\x04"sv, "a Python pickle", "numpy.save writes .npy"},
    Kind{0, "\x80\x05"sv, "a Python pickle", "numpy.save writes .npy"},
};

bool is_binary(std::string_view bytes) {
  return std::ranges::any_of(bytes, [](char c) {
    return static_cast<unsigned char>(c) < 32 && c != '\t' && c != '\n' && c != '\r' && c != '\f';
  });
}

std::string filled_in(std::string_view advice, const std::string& name) {
  std::string text(advice);
  const auto replace = [&](std::string_view word, const std::string& by) {
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + by.size()))
      text.replace(at, word.size(), by);
  };
  const std::string shown = printable(name);
  const std::size_t dot = shown.find_last_of("./");
  const bool extension = dot != std::string::npos && dot > 0 && shown[dot] == '.';
  replace("STEM", extension ? shown.substr(0, dot) : shown);
  replace("FILE", shown);
  return text;
}

[[noreturn]] void refuse(const std::string& name, std::string_view what, std::string_view advice) {
  fail(name, 0, fmt::format("this is {}: {}", what, filled_in(advice, name)));
}

}  // namespace

void refuse_other_kinds(const std::string& name, std::string_view beginning) {
  for (const Kind& kind : kKinds) {
    if (beginning.size() < kind.at || !beginning.substr(kind.at).starts_with(kind.mark)) continue;
    if (!kind.binary || is_binary(beginning)) refuse(name, kind.what, kind.advice);
  }
}

void refuse_folder(const std::string& name) {
  std::error_code ignored;
  for (const char* file : {".zgroup", ".zarray", "zarr.json"})
    if (std::filesystem::exists(std::filesystem::path(name) / file, ignored)) refuse(name, "zarr", kPython);
  fail(name, 0, "expected a file, got a folder");
}

}  // namespace tyto
