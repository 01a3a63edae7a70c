#include "fabric/host_identity.h"

#include <sys/utsname.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace reshard::fabric {

std::string host_identity(const std::string& wanted) {
  if (!wanted.empty()) return wanted;
  const char* const told = std::getenv("RESHARD_HOST");
  if (told != nullptr && *told != '\0') return told;
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  utsname name{};
  uname(&name);
  return boot + " " + name.nodename;
}

std::vector<Index> number_hosts(const std::vector<std::string>& identities) {
  std::vector<std::string> hosts;
  std::vector<Index> numbers;
  for (const std::string& identity : identities) {
    const auto known = std::ranges::find(hosts, identity);
    numbers.push_back(known - hosts.begin());
    if (known == hosts.end()) hosts.push_back(identity);
  }
  return numbers;
}

}  // namespace reshard::fabric
