#pragma once

#include <array>

#include "explain_topics.hpp"

// Codes about traces and logs of other systems, in the order of codes.hpp.
namespace slicewise::reports {

inline constexpr std::array kTraceCodes = {
    CodeExplanation{
        Code::TraceRow,
        "A row of the trace has a value that cannot be right: no number, a time that does not "
        "exist, an end before its start, more or fewer values than the header has columns. Nothing "
        "is guessed in its place.",
        "", "Repair the row, or leave such rows out with --skip-bad: they are then counted.",
        "slicewise import --help"},
    CodeExplanation{
        Code::TraceColumnMissing,
        "The trace lacks a column without which it says nothing about when jobs arrive, how long "
        "they run or how many GPUs they take.",
        "", "Name the column with --columns, or choose the kind of log that the file is.",
        "slicewise import --help"},
    CodeExplanation{Code::TraceFormat,
                    "The file is not of the kind that was named: another header, damaged "
                    "compression, JSON of another shape.",
                    "", "Choose the kind of log that the file is.", "slicewise import --help"},
    CodeExplanation{
        Code::JobNeverFits,
        "Jobs ask for more GPUs, CPU or memory than the cluster has when it is empty, or for GPU "
        "models that it does not have. They are dropped; under a strict queue they would block "
        "every job behind them for ever.",
        "0/N nodes are available: N Insufficient nvidia.com/gpu.",
        "Add nodes that hold them, or leave these jobs out of the trace.",
        "slicewise replay --help"},
};

}  // namespace slicewise::reports
