#pragma once

// Named places at which a process can be made to die as by kill -9, to see what the next one makes
// of it: METE_FAIL_POINT=NAME:N ends the process at the N-th arrival at NAME. Without the variable
// a fail point costs one load. tests/crash/crash.py lists the names.

#include <string_view>

namespace mete {

void FailPoint(std::string_view name);

}  // namespace mete
