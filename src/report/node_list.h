#pragma once

// `mete nodes` as text.

#include <string>

#include "report/cluster_summary.h"
#include "report/text_style.h"

namespace mete {

std::string NodeListText(const ClusterSummary& cluster, const TextStyle& style);

}  // namespace mete
