#pragma once

// The policies of this folder as entries of a registry: name, options and factory. Each is made in
// the file of its name, where its algorithm is told.

#include "policy/registry.h"

namespace mete {

PolicyRegistry::Entry NoneEntry();
PolicyRegistry::Entry FifoEntry();
PolicyRegistry::Entry FairEntry();
PolicyRegistry::Entry SlaqEntry();
PolicyRegistry::Entry SoonestEntry();

}  // namespace mete
