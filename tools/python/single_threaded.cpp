// What libc has of this name says whether a process never had a second thread. Code for programs
// reads it at its place in libc, which a module cannot. False is always right.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables,bugprone-reserved-identifier)
extern "C" char __libc_single_threaded;
char __libc_single_threaded = 0;
