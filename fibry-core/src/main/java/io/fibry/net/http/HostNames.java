package io.fibry.net.http;

import io.fibry.text.Lines;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;

/**
 * The names by which clients may call a server. In the Host header a browser sends the name from
 * which a page was loaded. The owner of that name can point the name at another address at any
 * time, such as an address behind a firewall (DNS rebinding). A page of that owner could then send
 * requests to this server. So a server can refuse names that are not its own. A Host header with an
 * IP address is safe from this, because no owner can redirect an IP address. It is refused
 * nevertheless unless it is one of the names: handlers may put the Host header into links, and a
 * client could make a link to another machine.
 *
 * @param names in lower case, without ports; empty if every name is allowed
 */
public record HostNames(Set<String> names) {
  public static final HostNames ALL = new HostNames(Set.of());

  public static HostNames of(String... names) {
    var lowerCaseNames = new HashSet<String>();
    for (var name : names) {
      if (!RequestTarget.isHost(name) || portStart(name) >= 0)
        throw new IllegalArgumentException("'" + Lines.line(name)
            + "' is not the name of a host; give names without scheme and port, as \"shop.example\"");
      lowerCaseNames.add(nameWithoutPort(name));
    }
    if (lowerCaseNames.isEmpty())
      throw new IllegalArgumentException("no host name was given; give one or more, or do not set names to allow all");
    return new HostNames(Set.copyOf(lowerCaseNames));
  }

  /** Returns the index of the colon before the port in a Host header; -1 if there is no port. */
  private static int portStart(String host) {
    return host.indexOf(':', host.startsWith("[") ? host.indexOf(']') : 0);
  }

  /**
   * Returns the name in a Host header, in lower case, without its port. All texts of an IPv6
   * address give the same name.
   */
  private static String nameWithoutPort(String host) {
    int end = portStart(host);
    var name = (end < 0 ? host : host.substring(0, end)).toLowerCase(Locale.ROOT);
    if (!name.startsWith("[")) return name;
    try {
      var address = InetAddress.getByName(name); // no DNS query: the text is in brackets
      var text = address.getHostAddress();
      return address instanceof Inet6Address ? "[" + text + "]" : text;
    } catch (UnknownHostException malformed) {
      return name;
    }
  }

  /**
   * Returns whether a client may call this server by the name in this Host header.
   *
   * @param host null if the client sent no Host header
   */
  boolean isAllowed(String host) {
    return names.isEmpty() || host != null && names.contains(nameWithoutPort(host));
  }

  /**
   * Returns whether DNS rebinding cannot have caused this Host header: it is one of the names,
   * localhost, or an IP address. If every name is allowed, the list of names is empty, so only
   * localhost and IP addresses are safe.
   */
  public boolean isSafeFromRebinding(String host) {
    var name = nameWithoutPort(host);
    return names.contains(name) || name.equals("localhost") || name.endsWith(".localhost") || name.startsWith("[")
        || !name.isEmpty() && name.chars().allMatch(c -> c >= '0' && c <= '9' || c == '.');
  }
}
