// What R calls. Exceptions of C++ become errors of R here.
#include <R_ext/Visibility.h>

#include <cpp11.hpp>
#include <cpp11/declarations.hpp>

namespace tyto::r {

SEXP entry_estimate(SEXP task, SEXP x, SEXP y, SEXP options);
SEXP entry_alpha_max(SEXP x, SEXP y, SEXP options);
SEXP entry_verify(SEXP x, SEXP y, SEXP rows, SEXP model);
SEXP entry_write(SEXP model, SEXP file, SEXP one);
SEXP entry_read(SEXP file);
SEXP entry_open(SEXP files, SEXP options);
SEXP entry_columns(SEXP x, SEXP columns);
SEXP entry_product(SEXP x, SEXP columns, SEXP coefficients);
SEXP entry_prox(SEXP weights, SEXP v, SEXP step);
SEXP entry_norm(SEXP weights, SEXP v);
SEXP entry_dual_norm(SEXP weights, SEXP v);
SEXP entry_weights(SEXP name, SEXP n, SEXP p, SEXP q, SEXP slope);
SEXP entry_means(SEXP loss, SEXP predictor);
SEXP entry_tables();
SEXP entry_wait();

namespace {

// An entry as R calls it.
template <auto Entry>
struct Guarded;
template <class... Args, SEXP (*Entry)(Args...)>
struct Guarded<Entry> {
  static SEXP call(Args... args) {
    BEGIN_CPP11
    return Entry(args...);
    END_CPP11
  }
  static constexpr int kArguments = sizeof...(Args);
};

template <auto Entry>
R_CallMethodDef row(const char* name) {
  return {name, reinterpret_cast<DL_FUNC>(&Guarded<Entry>::call), Guarded<Entry>::kArguments};
}

}  // namespace
}  // namespace tyto::r

extern "C" attribute_visible void R_init_tyto(DllInfo* dll) {
  using namespace tyto::r;
  static const R_CallMethodDef kEntries[] = {
      row<entry_estimate>("tyto_estimate"),   row<entry_alpha_max>("tyto_alpha_max"),
      row<entry_verify>("tyto_verify"),       row<entry_write>("tyto_write"),
      row<entry_read>("tyto_read"),           row<entry_open>("tyto_open"),
      row<entry_columns>("tyto_columns"),     row<entry_product>("tyto_product"),
      row<entry_prox>("tyto_prox"),           row<entry_norm>("tyto_norm"),
      row<entry_dual_norm>("tyto_dual_norm"), row<entry_weights>("tyto_weights"),
      row<entry_means>("tyto_means"),         row<entry_tables>("tyto_tables"),
      row<entry_wait>("tyto_wait"),           {nullptr, nullptr, 0}};
  R_registerRoutines(dll, nullptr, kEntries, nullptr, nullptr);
  R_useDynamicSymbols(dll, FALSE);
  R_forceSymbols(dll, TRUE);
}
