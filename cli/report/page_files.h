#pragma once

#include <string_view>

// The files of cli/report/page and the chart library, as they were when the program was built (embed.cmake).
namespace tyto::cli::page {

extern const std::string_view kHtml, kStyle, kScript, kChartLibrary, kChartLicence;

}  // namespace tyto::cli::page
