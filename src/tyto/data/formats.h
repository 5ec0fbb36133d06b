#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tyto/data/blocks.h"
#include "tyto/data/dataset.h"
#include "tyto/data/source.h"

namespace tyto {

using Sources = std::vector<Source>;

// `sources` are not empty and of one format. The sniffers get the first 64 KiB of a file.
bool looks_like_libsvm(std::string_view beginning);
Dataset read_libsvm(const Sources& sources, const ReadOptions& options);
void read_libsvm_blocks(const Sources& sources, const ReadOptions& options, const BlockPlan& plan);

bool looks_like_csv(std::string_view beginning);
Dataset read_csv(const Sources& sources, const ReadOptions& options);
void read_csv_blocks(const Sources& sources, const ReadOptions& options, const BlockPlan& plan);

bool looks_like_npy(std::string_view beginning);
Dataset read_npy(const Sources& sources, const ReadOptions& options);
void read_npy_blocks(const Sources& sources, const ReadOptions& options, const BlockPlan& plan);
bool npy_by_columns(const Sources& sources);  // whether the columns can stay in the file

// These hold features alone, but for the phenotype of .fam: see ResponseFile for the response.
bool looks_like_npz(std::string_view beginning);
Dataset read_npz(const Sources& sources, const ReadOptions& options);

bool looks_like_tyto(std::string_view beginning);
Dataset read_tyto(const Sources& sources, const ReadOptions& options);

bool looks_like_matrix_market(std::string_view beginning);
Dataset read_matrix_market(const Sources& sources, const ReadOptions& options);

bool looks_like_plink(std::string_view beginning);
Dataset read_plink(const Sources& sources, const ReadOptions& options);

// The only column of a file of any format but LIBSVM, with a number for each of `rows` rows: `what` they are.
Vector read_numbers(const std::string& file, Index rows, std::string_view what);

// A model names a file as the response: nothing is opened that the caller does not name. Throws
// InvalidArgument.
[[noreturn]] void refuse_file_of_model(std::string_view option, const std::string& file);

// Options for named columns, for formats without them.
void refuse_drop(const ReadOptions& options, std::string_view format);

}  // namespace tyto
