#include "report/node_list.h"

#include <fmt/format.h>

#include "base/units.h"
#include "report/quantity_text.h"
#include "report/table.h"

namespace mete {

std::string NodeListText(const ClusterSummary& cluster, const TextStyle& style) {
  Table table({{"NODE", Align::kLeft, 8},
               {"HARDWARE", Align::kLeft, 0, 1},
               {"CORES", Align::kRight},
               {"MEMORY", Align::kRight},
               {"GPUS", Align::kRight, 0, 2}});
  for (const NodeSummary& node : cluster.nodes) {
    table.AddRow({{Printable(node.name)},
                  {Printable(node.hardware)},
                  {CoresText(node.cores)},
                  {FormatBytes(node.memory_bytes)},
                  {std::to_string(node.gpus)}});
  }
  std::string text = table.Render(style);
  text += fmt::format("\nCPU control: {}; memory limits: {}; freezing: {}\n",
                      Printable(cluster.cpu_controller), cluster.can_limit_memory ? "yes" : "no",
                      cluster.can_freeze ? "yes" : "no");
  for (const std::string& note : cluster.notes) text += "  " + Printable(note) + "\n";
  return text;
}

}  // namespace mete
