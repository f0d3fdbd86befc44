package io.fibry.net;

import io.fibry.text.Lines;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;

/**
 * The names by which clients may call a server. A browser sends the name that a page was loaded
 * from. The owner of that name can let it point at another address at any time, such as an address
 * behind a firewall (DNS rebinding). An address cannot mean another one.
 *
 * @param names in small letters, without ports; empty for all names
 */
record HostNames(Set<String> names) {
  static final HostNames ALL = new HostNames(Set.of());

  static HostNames of(String... names) {
    var all = new HashSet<String>();
    for (var name : names) {
      if (!RequestTarget.isHost(name) || !name.equalsIgnoreCase(name(name)))
        throw new IllegalArgumentException("'" + Lines.line(name)
            + "' is no name of a host; give names without scheme and port, as \"shop.example\"");
      all.add(name(name));
    }
    if (all.isEmpty())
      throw new IllegalArgumentException("no names of hosts would refuse all clients; give one or more");
    return new HostNames(Set.copyOf(all));
  }

  /** Returns the name in a Host header, in small letters, without its port. */
  private static String name(String host) {
    int end = host.indexOf(':', host.startsWith("[") ? host.indexOf(']') : 0);
    return (end < 0 ? host : host.substring(0, end)).toLowerCase(Locale.ROOT);
  }

  /**
   * Returns whether a client may call this server by this name, which is null if the client sent
   * none.
   */
  boolean isAllowed(String host) {
    return names.isEmpty() || host != null && names.contains(name(host));
  }

  /** Whether this name means this server for certain. */
  boolean isKnown(String host) {
    var name = name(host);
    return names.contains(name) || name.equals("localhost") || name.endsWith(".localhost") || name.startsWith("[")
        || !name.isEmpty() && name.chars().allMatch(c -> c >= '0' && c <= '9' || c == '.');
  }
}
