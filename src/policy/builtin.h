#pragma once

// The policies of this folder as entries of a registry: name, options and factory. Each is made in
// the file of its name, where its algorithm is told.

#include "policy/registry.h"

namespace mete {

PolicyRegistry::Entry NoneEntry();
PolicyRegistry::Entry FifoEntry();
PolicyRegistry::Entry FairEntry();
PolicyRegistry::Entry SjfEntry();
PolicyRegistry::Entry SrtfEntry();
PolicyRegistry::Entry SrsfEntry();
PolicyRegistry::Entry LasEntry();
PolicyRegistry::Entry SlaqEntry();
PolicyRegistry::Entry SoonestEntry();

}  // namespace mete
