.onLoad <- function(libname, pkgname) {
  # Work that Ctrl-C left to itself must end before the library goes.
  library_state$loaded <- TRUE
  reg.finalizer(library_state, wait_for_left, onexit = TRUE)
  # Methods for generics of packages that need not be there.
  for (method in list(c("generics", "tidy"), c("generics", "glance"), c("generics", "augment"), c("ggplot2", "autoplot"))) {
    register_method(method[1], method[2], "owl")
    register_method(method[1], method[2], "cv_owl")
  }
}

.onUnload <- function(libpath) {
  wait_for_left(library_state)
  library_state$loaded <- FALSE
  library.dynam.unload("tyto", libpath)
}

library_state <- new.env()

wait_for_left <- function(state) if (isTRUE(state$loaded)) .Call(tyto_wait)

# Now where the package is loaded already, else once it is.
register_method <- function(package, generic, class) {
  method <- get(paste(generic, class, sep = "."), envir = environment(register_method))
  register <- function(...) registerS3method(generic, class, method, envir = asNamespace(package))
  if (isNamespaceLoaded(package)) register()
  setHook(packageEvent(package, "onLoad"), register)
}

# What the library has: its version, weights, losses, and the arguments that belong to its options.
tables <- local({
  found <- NULL
  function() {
    if (is.null(found)) found <<- .Call(tyto_tables)
    found
  }
})
