package io.fibry.net.http;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;

/**
 * The proxies that the server trusts. A request that comes from such a proxy names its client in
 * the header {@code Forwarded} (RFC 7239), or in {@code X-Forwarded-For} and {@code
 * X-Forwarded-Proto}. Each proxy appends the address from which it got the request, so the list is
 * read from its end. The first address that is no trusted proxy is the client. This client may have
 * invented all addresses before its own.
 */
public record TrustedProxies(List<AddressRange> ranges) {
  private static final String OCTET = "(25[0-5]|2[0-4]\\d|1?\\d?\\d)"; // another number would be looked up as a name
  private static final Pattern V4 = Pattern.compile(OCTET + "(\\." + OCTET + "){3}");
  private static final Pattern V6 = Pattern.compile("[0-9a-fA-F.]*:[0-9a-fA-F.:]*");

  private static final Set<String> SECURE = Set.of("https", "wss"); // some proxies distinguish WebSockets

  public static final TrustedProxies NONE = new TrustedProxies(List.of());

  /** The sender of a request, as far as trusted proxies know it. */
  record Origin(InetSocketAddress address, boolean isSecure) {
    String scheme() {
      return isSecure ? "https" : "http";
    }
  }

  /** All addresses with the same first bits. */
  record AddressRange(byte[] address, int bits) {
    static AddressRange of(String text) {
      int slash = text.indexOf('/');
      var address = literal(slash < 0 ? text : text.substring(0, slash));
      if (address != null) try {
        int maxBits = 8 * address.getAddress().length;
        int bits = slash < 0 ? maxBits : Integer.parseInt(text.substring(slash + 1));
        if (bits >= 0 && bits <= maxBits) return new AddressRange(address.getAddress(), bits);
      } catch (NumberFormatException noNumber) {}
      throw new IllegalArgumentException("'" + text + "' is no address of a proxy; give an address such as 10.0.0.7 "
          + "or ::1, or a network such as 10.0.0.0/8");
    }

    boolean contains(InetAddress candidate) {
      var bytes = candidate.getAddress();
      if (bytes.length != address.length) return false;
      for (int bit = 0; bit < bits; bit++)
        if (((bytes[bit / 8] ^ address[bit / 8]) >> 7 - bit % 8 & 1) != 0) return false;
      return true;
    }
  }

  public static TrustedProxies of(String... networks) {
    var list = new ArrayList<AddressRange>();
    for (var network : networks) list.add(AddressRange.of(network));
    return new TrustedProxies(List.copyOf(list));
  }

  /** Returns the address if the text is one in digits. No name is looked up. */
  private static InetAddress literal(String text) {
    if (!V4.matcher(text).matches() && !V6.matcher(text).matches()) return null;
    try {
      return InetAddress.getByName(text);
    } catch (UnknownHostException malformed) {
      return null;
    }
  }

  /**
   * Returns the sender of a request.
   *
   * @param peer the address at the other end of the connection
   * @param isSecure whether the connection uses TLS
   * @param header returns the value of a header of the request, by its name in lower case, or null
   */
  Origin originOf(InetSocketAddress peer, boolean isSecure, UnaryOperator<String> header) {
    var origin = new Origin(peer, isSecure);
    if (ranges.isEmpty()) return origin;
    var hops = hops(header);
    for (int i = hops.size() - 1; i >= 0 && isTrusted(origin.address); i--) {
      var address = socketAddress(hops.get(i).client);
      var protocol = hops.get(i).protocol;
      boolean isHopSecure = protocol.isEmpty() ? origin.isSecure : SECURE.contains(protocol);
      origin = new Origin(address == null ? origin.address : address, isHopSecure);
      if (address == null) break; // hidden or malformed, so no more than the proxy is known
    }
    return origin;
  }

  private boolean isTrusted(InetSocketAddress address) {
    for (var range : ranges) if (range.contains(address.getAddress())) return true;
    return false;
  }

  /**
   * The client of one proxy, as the proxy names it.
   *
   * @param client the address; may be hidden or malformed
   * @param protocol http or https; empty if the proxy does not name it
   */
  private record Hop(String client, String protocol) {}

  private static List<Hop> hops(UnaryOperator<String> header) {
    var forwarded = header.apply("forwarded");
    if (forwarded != null) {
      var hops = new ArrayList<Hop>();
      for (var element : forwarded.split(","))
        hops.add(new Hop(parameter(element, "for"), parameter(element, "proto")));
      return hops;
    }
    var clients = header.apply("x-forwarded-for");
    var protocolHeader = header.apply("x-forwarded-proto");
    if (clients == null && protocolHeader == null) return List.of();
    var addresses = clients == null ? new String[] {""} : clients.split(",");
    var protocols = protocolHeader == null ? List.of("") : List.of(protocolHeader.split(","));
    // a proxy may replace the values of other proxies by its own, which then applies to all hops
    var ofHops = protocols.size() == addresses.length ? protocols
        : Collections.nCopies(addresses.length, protocols.getLast());
    var hops = new ArrayList<Hop>();
    for (int i = 0; i < addresses.length; i++)
      hops.add(new Hop(addresses[i].strip(), ofHops.get(i).strip().toLowerCase(Locale.ROOT)));
    return hops;
  }

  /** Returns a parameter of an element of the header Forwarded, without quotes. */
  private static String parameter(String element, String name) {
    for (var pair : element.split(";")) {
      int equals = pair.indexOf('=');
      if (equals < 0 || !pair.substring(0, equals).strip().equalsIgnoreCase(name)) continue;
      var value = pair.substring(equals + 1).strip();
      boolean isQuoted = value.length() >= 2 && value.startsWith("\"") && value.endsWith("\"");
      return (isQuoted ? value.substring(1, value.length() - 1) : value).toLowerCase(Locale.ROOT);
    }
    return "";
  }

  /** Returns the address in a text such as 1.2.3.4, 1.2.3.4:80, ::1 or [::1]:80. Otherwise null. */
  private static InetSocketAddress socketAddress(String text) {
    int bracket = text.indexOf(']');
    int colon = text.lastIndexOf(':');
    boolean isBracketed = text.startsWith("[") && bracket > 0;
    boolean hasPort = isBracketed ? colon > bracket : colon > 0 && text.indexOf(':') == colon;
    var host = isBracketed ? text.substring(1, bracket) : hasPort ? text.substring(0, colon) : text;
    var address = literal(host);
    if (address == null) return null;
    try {
      int port = hasPort ? Integer.parseInt(text.substring(colon + 1)) : 0;
      return port >= 0 && port < 1 << 16 ? new InetSocketAddress(address, port) : null;
    } catch (NumberFormatException hidden) { // RFC 7239 permits names such as _a in place of a port
      return new InetSocketAddress(address, 0);
    }
  }
}
