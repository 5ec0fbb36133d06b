#pragma once

#include <string>
#include <string_view>

#include "tyto/moments/columns_alone.h"
#include "tyto/moments/evidence.h"
#include "tyto/moments/gradients.h"

// Moments, queries and sums as bytes, for files (.moments) and for whatever carries them between processes:
// a kind, a version, numbers as they are in memory (little-endian), and a checksum at the end. What is read
// back has the same bits.
namespace tyto {

std::string pack(const MomentSet& set);
std::string pack(const EvidenceQuery& query);
std::string pack(const EvidenceSums& sums);
std::string pack(const ColumnSet& set);
std::string pack(const GradientQuery& query);
std::string pack(const GradientSums& sums);

// These throw DataError "name: expected ..., got ..." for bytes of another kind or version, and for such as
// were cut off or damaged.
MomentSet unpack_moments(std::string_view bytes, const std::string& name);
EvidenceQuery unpack_query(std::string_view bytes, const std::string& name);
EvidenceSums unpack_sums(std::string_view bytes, const std::string& name);
ColumnSet unpack_columns(std::string_view bytes, const std::string& name);
GradientQuery unpack_gradient_query(std::string_view bytes, const std::string& name);
GradientSums unpack_gradients(std::string_view bytes, const std::string& name);

bool is_packed_moments(std::string_view beginning);  // of a file

}  // namespace tyto
