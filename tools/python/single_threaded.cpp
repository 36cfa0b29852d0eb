// What libc has of this name says whether a process never had a second thread. Code for programs
// reads it at its place in libc, which a module cannot. False is always right.
// NOLINTBEGIN(bugprone-reserved-identifier,cert-*,readability-identifier-naming)
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables)
extern "C" char __libc_single_threaded;
char __libc_single_threaded = 0;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)
// NOLINTEND(bugprone-reserved-identifier,cert-*,readability-identifier-naming)
