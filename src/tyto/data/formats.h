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

bool looks_like_tyto(std::string_view beginning);
Dataset read_tyto(const Sources& sources, const ReadOptions& options);
bool tyto_by_columns(const Sources& sources);

bool looks_like_matrix_market(std::string_view beginning);
Dataset read_matrix_market(const Sources& sources, const ReadOptions& options);

// The only column of a file of any format but LIBSVM: the response beside a matrix that has `rows` rows.
// Missing values are refused, or left as NaN where `missing` is not kRefuse.
Vector read_response(const std::string& file, Index rows, Missing missing,
                     std::string_view what = "the response");

// A model names a file as the response: nothing is opened that the caller does not name. Throws
// InvalidArgument.
[[noreturn]] void refuse_file_of_model(std::string_view option, const std::string& file);

// Options for named columns, for formats without them.
void refuse_drop(const ReadOptions& options, std::string_view format);

}  // namespace tyto
