package io.fibry.net.http;

import io.fibry.net.socket.ByteBuilder;
import io.fibry.text.Lines;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * The headers of one response, without the headers that the server adds to each response. Used by
 * the thread of its exchange.
 *
 * <p>An error response has other headers than the response that the handler has begun. It keeps the
 * headers that code around the route has set, such as a request id or the headers of CORS. Headers
 * that describe a body are dropped, because an error has another body.
 */
final class ResponseHeaders {
  private static final Set<String> OF_BODY = Set.of("content-type", "content-encoding", "content-language",
      "content-location", "content-range", "content-disposition", "etag", "last-modified");
  // cannot be added to all responses, because the server or the connection decides about them
  private static final Set<String> OF_SERVER = Set.of("content-length", "transfer-encoding", "trailer", "connection",
      "keep-alive", "upgrade", "date");

  private List<String> all = List.of(); // names and values in turn
  private List<String> lasting = List.of(); // the part of `all` that an error response keeps
  // headers that each response of the server has; names and values in turn
  private List<String> added = List.of();
  /** Whether headers are set by the handler of the route or by a failure rule. */
  boolean isInHandler;
  private boolean hasDate;
  private boolean hasType;

  /** Throws if a response cannot have this header. */
  static void check(String name, String value) {
    if (name.isEmpty() || !name.chars().allMatch(RequestHead::isToken)) throw new IllegalArgumentException(
        "'" + Lines.line(name) + "' cannot be the name of a header; give letters, digits and dashes");
    if (!value.chars().allMatch(c -> c >= 0x20 && c < 0x7f || c == '\t' || c >= 0xa0 && c <= 0xff))
      throw new IllegalArgumentException("header " + name + " cannot have the value '" + Lines.line(value)
          + "', which is not one line of Latin-1; encode it");
  }

  /** Sets a header. It replaces a header of the same name, except for {@code Set-Cookie}. */
  void set(String name, String value) {
    note(name);
    all = with(all, name, value);
    if (!isInHandler && !OF_BODY.contains(name.toLowerCase(Locale.ROOT))) lasting = with(lasting, name, value);
  }

  /** Replaces the headers of the handler by headers of the server, given as names and values. */
  void replace(String... headers) {
    all = lasting.isEmpty() ? List.of() : new ArrayList<>(lasting);
    hasDate = hasType = false;
    for (int i = 0; i < all.size(); i += 2) note(all.get(i));
    for (int i = 0; i < headers.length; i += 2) all = with(all, headers[i], headers[i + 1]);
  }

  /**
   * Adds headers which the response has unless it sets another value for them. Throws if one of
   * them is not allowed, and then adds none.
   */
  void add(Map<String, String> headers) {
    var checked = new ArrayList<String>();
    for (var header : headers.entrySet()) {
      var name = Objects.requireNonNull(header.getKey(), "the name of a header");
      var value = Objects.requireNonNull(header.getValue(), () -> "the value of header " + Lines.line(name));
      check(name, value);
      var lowerCaseName = name.toLowerCase(Locale.ROOT);
      if (OF_SERVER.contains(lowerCaseName) || OF_BODY.contains(lowerCaseName)
          || lowerCaseName.startsWith("sec-websocket-"))
        throw new IllegalArgumentException("header " + name + " cannot be added to all responses, because it "
            + "describes one body or connection; leave it out");
      if (hasHeader(checked, name))
        throw new IllegalArgumentException("header " + name + " is there twice, in different cases; give it once");
      checked.add(name);
      checked.add(value);
    }
    added = checked;
  }

  private static boolean hasHeader(List<String> headers, String name) {
    for (int i = 0; i < headers.size(); i += 2) if (headers.get(i).equalsIgnoreCase(name)) return true;
    return false;
  }

  private void note(String name) {
    if (name.equalsIgnoreCase("Date")) hasDate = true;
    else if (name.equalsIgnoreCase("Content-Type")) hasType = true;
  }

  /** Returns the headers with one more. Changes the given list if it is not empty. */
  private static List<String> with(List<String> headers, String name, String value) {
    var changed = headers.isEmpty() ? new ArrayList<String>() : headers;
    if (!name.equalsIgnoreCase("Set-Cookie"))
      for (int i = changed.size() - 2; i >= 0; i -= 2)
        if (changed.get(i).equalsIgnoreCase(name)) changed.subList(i, i + 2).clear();
    changed.add(name);
    changed.add(value);
    return changed;
  }

  boolean hasDate() {
    return hasDate;
  }

  boolean hasType() {
    return hasType;
  }

  void appendTo(ByteBuilder head) {
    append(all, head);
    for (int i = 0; i < added.size(); i += 2) {
      var name = added.get(i);
      if (mayRepeat(name) || !hasHeader(all, name)) append(added.subList(i, i + 2), head);
    }
  }

  /** Returns whether a response may have several headers of this name. */
  private static boolean mayRepeat(String name) {
    return name.equalsIgnoreCase("Vary") || name.equalsIgnoreCase("Set-Cookie");
  }

  /** Appends headers, given as names and values, to the head of a response. */
  static void append(List<String> headers, ByteBuilder head) {
    for (int i = 0; i < headers.size(); i += 2) {
      head.add(headers.get(i));
      head.add(':', ' ');
      head.add(headers.get(i + 1));
      head.add('\r', '\n');
    }
  }
}
