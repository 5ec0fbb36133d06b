#include "tyto/select/option_json.h"

namespace tyto {

void read_option(const Json& json, const char* field, bool& value) { value = json.at(field).get<bool>(); }

void read_option(const Json& json, const char* field, double& value) { value = number_at(json, field); }

void read_option(const Json& json, const char* field, std::string& value) {
  value = json.at(field).get<std::string>();
}

void read_option(const Json& json, const char* field, IndexSet& value) {
  value = whole_numbers_at(json, field);
}

}  // namespace tyto
