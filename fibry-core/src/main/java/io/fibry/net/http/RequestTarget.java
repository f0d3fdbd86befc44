package io.fibry.net.http;

import io.fibry.net.http.HttpStatus.RequestRefusedException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;

/**
 * The path and the query of a request. The path is decoded, begins with a slash, and has no empty
 * segment, no {@code .} or {@code ..} and no control character. The exception is {@link #SERVER},
 * whose path is {@code *}.
 */
public record RequestTarget(String path, UrlEncodedFields query) {
  // where a character is allowed: nowhere, in a query only, or in a query and a path
  private static final byte NONE = 0, QUERY = 1, PATH = 2;
  private static final UrlEncodedFields NO_QUERY = new UrlEncodedFields("");

  /**
   * The target of {@code OPTIONS *}, which asks about the server as a whole. No route takes its
   * path.
   */
  static final RequestTarget SERVER = new RequestTarget("*", NO_QUERY);

  private static final byte[] ALLOWED = new byte[128];

  static {
    // more than the grammar allows: browsers send [ ] | ^ in queries
    for (char c = 0x21; c < 0x7f; c++) ALLOWED[c] = QUERY;
    for (char c : "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~!$&'()*+,;=:@/%".toCharArray())
      ALLOWED[c] = PATH;
    ALLOWED['#'] = NONE;
  }

  /**
   * Parses the target, which is a part of {@code raw}.
   *
   * @param from index of the first byte of the target
   * @param to index after the last byte
   * @param host the Host header; null if there is none
   */
  static RequestTarget of(byte[] raw, int from, int to, String host, boolean isTls) throws RequestRefusedException {
    if (raw[from] != '/') from = afterAuthority(raw, from, to, host, isTls);
    if (from == to) return new RequestTarget("/", NO_QUERY);
    int queryMark = from;
    boolean isCanonical = true;
    for (; queryMark < to && raw[queryMark] != '?'; queryMark++) {
      byte c = raw[queryMark];
      if (allowed(c) != PATH) throw new RequestRefusedException(400, "a character that a path cannot have");
      if (c == '%' || (c == '/' || c == '.') && queryMark > from && raw[queryMark - 1] == '/') isCanonical = false;
    }
    for (int i = queryMark + 1; i < to; i++) {
      if (allowed(raw[i]) == NONE) throw new RequestRefusedException(400, "a character that a query cannot have");
      if (raw[i] == '%') octet(raw, i, to);
    }
    var path = isCanonical && queryMark > from ? new String(raw, from, queryMark - from, StandardCharsets.ISO_8859_1)
        : canonical(raw, from, queryMark);
    return new RequestTarget(path, queryMark == to ? NO_QUERY
        : new UrlEncodedFields(new String(raw, queryMark + 1, to - queryMark - 1, StandardCharsets.ISO_8859_1)));
  }

  private static byte allowed(byte c) {
    return c < 0 ? NONE : ALLOWED[c];
  }

  /**
   * Returns the index after the authority in a target that is a whole URL, as clients send it to
   * proxies. The authority must name the host of the Host header.
   */
  private static int afterAuthority(byte[] raw, int from, int to, String host, boolean isTls)
      throws RequestRefusedException {
    var text = new String(raw, from, to - from, StandardCharsets.ISO_8859_1);
    String scheme = isTls ? "https://" : "http://";
    if (!text.regionMatches(true, 0, scheme, 0, scheme.length()))
      throw new RequestRefusedException(400, "a target that is neither a path nor a URL of this scheme");
    int end = scheme.length();
    while (end < text.length() && "/?".indexOf(text.charAt(end)) < 0) end++;
    var authority = text.substring(scheme.length(), end);
    if (!isHost(authority)) throw new RequestRefusedException(400, "a target whose authority is not a host");
    if (host != null && !withoutDefaultPort(authority, isTls).equalsIgnoreCase(withoutDefaultPort(host, isTls)))
      throw new RequestRefusedException(400, "the target names another host than the Host header");
    return from + end;
  }

  /** Removes the port if it is the default port of the scheme. */
  private static String withoutDefaultPort(String host, boolean isTls) {
    String port = isTls ? ":443" : ":80";
    return host.endsWith(port) ? host.substring(0, host.length() - port.length()) : host;
  }

  /** Returns whether this is a host name or an IP address, with or without a port. */
  static boolean isHost(String host) {
    int nameLength = 0;
    int i = 0;
    if (host.startsWith("[")) {
      i = host.indexOf(']') + 1;
      if (i == 0) return false;
      int colons = 0;
      for (int k = 1; k < i - 1; k++) {
        char c = host.charAt(k);
        if (c == ':') colons++;
        else if (c != '.' && (c > 0x7e || Character.digit(c, 16) < 0)) return false;
      }
      nameLength = colons < 2 ? 0 : i; // each IPv6 address has at least two colons
    } else {
      for (; i < host.length() && host.charAt(i) != ':'; i++, nameLength++) {
        char c = host.charAt(i);
        if (c > 0x7e || !Character.isLetterOrDigit(c) && "-._~".indexOf(c) < 0) return false;
      }
    }
    if (nameLength == 0 || i < host.length() && host.charAt(i) != ':' || host.length() - i > 6) return false;
    for (i++; i < host.length(); i++) if (host.charAt(i) < '0' || host.charAt(i) > '9') return false;
    return true;
  }

  private static String canonical(byte[] raw, int from, int to) throws RequestRefusedException {
    return resolved(decoded(raw, from, to));
  }

  /** Decodes the path once, and checks all segments, even segments that {@code ..} will remove. */
  private static String decoded(byte[] raw, int from, int to) throws RequestRefusedException {
    var bytes = new byte[to - from];
    int length = 0;
    for (int i = from; i < to; i++) {
      byte c = raw[i];
      if (c == '%') {
        c = octet(raw, i, to);
        i += 2;
        if (c == '/' || c == '\\') throw new RequestRefusedException(400, "an encoded slash or backslash in the path");
      }
      bytes[length++] = c;
    }
    try {
      var path = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes, 0, length)).toString();
      if (path.chars().anyMatch(Character::isISOControl))
        throw new RequestRefusedException(400, "an encoded control character in the path");
      return path;
    } catch (CharacterCodingException malformed) {
      throw new RequestRefusedException(400, "a path that is not UTF-8");
    }
  }

  /** Merges repeated slashes, and resolves {@code .} and {@code ..}. */
  private static String resolved(String path) throws RequestRefusedException {
    var segments = new ArrayDeque<String>();
    String lastSegment = "";
    for (var segment : path.split("/", -1)) {
      lastSegment = segment;
      if (segment.equals("..")) {
        if (segments.pollLast() == null) throw new RequestRefusedException(400, "a path that leads above its root");
      } else if (!isSkipped(segment)) segments.add(segment);
    }
    boolean endsWithSlash = !segments.isEmpty() && (isSkipped(lastSegment) || lastSegment.equals(".."));
    return "/" + String.join("/", segments) + (endsWithSlash ? "/" : "");
  }

  private static boolean isSkipped(String segment) {
    return segment.isEmpty() || segment.equals(".");
  }

  private static byte octet(byte[] raw, int percentIndex, int to) throws RequestRefusedException {
    int high = percentIndex + 2 < to ? Character.digit(raw[percentIndex + 1], 16) : -1;
    int low = percentIndex + 2 < to ? Character.digit(raw[percentIndex + 2], 16) : -1;
    if (high < 0 || low < 0) throw new RequestRefusedException(400, "a percent sign without two hexadecimal digits");
    return (byte) (high << 4 | low);
  }
}
