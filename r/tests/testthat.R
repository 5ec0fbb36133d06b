library(testthat)
library(tyto)
test_check("tyto")
