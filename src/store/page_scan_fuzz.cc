// Feeds arbitrary bytes to the reader of damaged journals, as a file, as a log and as a record.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "store/page_scan.h"
#include "store/schema.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mete;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::vector<Value> columns;
  (void)ParseRecord(bytes, &columns);

  // A whole page from few bytes: the input at its start, cells at its end.
  std::string pages(2 * kPageBytes, '\0');
  for (size_t i = 0; i < bytes.size() && i < pages.size(); ++i) {
    const size_t at = i % 2 == 0 ? i / 2 : pages.size() - 1 - i / 2;
    pages[at] = bytes[i];
  }
  const size_t split = size == 0 ? 0 : data[0] * size_t{32} % (size + 1);
  const LogPages log = ReadLog(bytes.substr(split));
  int64_t rows = 0;
  const auto count = [&](const ScannedRow& row) {
    METE_CHECK(row.columns.size() <= (size_t{1} << 30));
    ++rows;
  };
  ScanRows(bytes.substr(0, split), log, count);
  ScanRows(pages, log, count);
  return 0;
}
