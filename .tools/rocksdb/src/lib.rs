//! Nothing: this package exists for the C++ library that its one dependency compiles.
