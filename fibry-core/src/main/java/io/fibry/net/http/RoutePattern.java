package io.fibry.net.http;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * A pattern of the requests that a route takes, such as {@code GET /orders/{id}}. A pattern without
 * a method takes all methods; a pattern for GET takes HEAD, too.
 *
 * @param text the pattern as the user wrote it
 * @param method empty if the pattern takes all methods
 * @param segments the parts of the path, between slashes
 */
record RoutePattern(String text, Optional<String> method, List<PathSegment> segments) {
  private static final Set<String> METHODS = Set.of("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS");

  /**
   * The kinds of segments, in the order in which they are tried: a fixed name, any single segment,
   * or the rest of the path.
   */
  enum SegmentKind {
    NAMED, ANY, REST
  }

  /**
   * A segment of the path. The name is the segment itself if the segment is fixed; otherwise it is
   * the name in braces.
   */
  record PathSegment(SegmentKind kind, String name) {
    private static PathSegment of(String text) {
      if (!text.startsWith("{")) return new PathSegment(SegmentKind.NAMED, text);
      boolean isRest = text.endsWith("...}");
      return new PathSegment(isRest ? SegmentKind.REST : SegmentKind.ANY,
          text.substring(1, text.length() - (isRest ? 4 : 1)));
    }
  }

  /** Orders patterns segment by segment; the more exact pattern comes first. */
  static final Comparator<RoutePattern> ORDER = RoutePattern::compare;

  static RoutePattern of(String text) {
    int space = Objects.requireNonNull(text, "path").indexOf(' ');
    var method = space < 0 ? Optional.<String>empty() : Optional.of(text.substring(0, space));
    var path = text.substring(space + 1);
    if (method.isPresent() && !METHODS.contains(method.get()))
      throw malformed(text,
          "'" + method.get() + "' is not a method; give GET, POST, PUT, DELETE, PATCH, HEAD or OPTIONS");
    boolean isWellFormed = path.equals("/") || path.startsWith("/") && !path.endsWith("/") && !path.contains("//");
    if (!isWellFormed || path.contains("?") || path.contains("/./") || path.contains("/../") || path.endsWith("/.")
        || path.endsWith("/..") || path.chars().anyMatch(Character::isISOControl))
      throw malformed(text, "no request can have this path; give \"/\" or \"/name\", without a slash at the end, "
          + "segments \".\" or \"..\", a query or control characters");
    return new RoutePattern(text, method, segments(text, path));
  }

  private static List<PathSegment> segments(String text, String path) {
    var segments = new ArrayList<PathSegment>();
    var names = new HashSet<String>();
    var parts = path.equals("/") ? new String[0] : path.substring(1).split("/");
    for (int i = 0; i < parts.length; i++) {
      if (parts[i].startsWith(":") || parts[i].matches("\\*+")) throw malformed(text, "'" + parts[i]
          + "' would be a name that paths hardly have; give {name} for one segment, or {name...} for the rest");
      boolean isInBraces = parts[i].matches("\\{\\w+(\\.\\.\\.)?}");
      if (!isInBraces && (parts[i].contains("{") || parts[i].contains("}")))
        throw malformed(text, "'" + parts[i] + "' is neither a name nor {name} nor {name...}");
      var segment = PathSegment.of(parts[i]);
      if (segment.kind == SegmentKind.REST && i < parts.length - 1)
        throw malformed(text, "'" + parts[i] + "' takes the rest of the path, so nothing can follow");
      if (isInBraces && !names.add(segment.name))
        throw malformed(text, "two parts have the name '" + segment.name + "'");
      segments.add(segment);
    }
    return List.copyOf(segments);
  }

  private static IllegalArgumentException malformed(String text, String reason) {
    return new IllegalArgumentException("'" + text + "' cannot be a route: " + reason);
  }

  /** Returns whether the pattern takes exactly one path, because no segment is in braces. */
  boolean isFixed() {
    return segments.stream().allMatch(segment -> segment.kind == SegmentKind.NAMED);
  }

  String path() {
    return text.substring(text.indexOf(' ') + 1);
  }

  boolean matchesMethod(String requestMethod) {
    return method.isEmpty() || method.get().equals(requestMethod)
        || requestMethod.equals("HEAD") && method.get().equals("GET");
  }

  boolean matchesPath(String path) {
    int start = 1;
    for (var segment : segments) {
      if (segment.kind == SegmentKind.REST) return true;
      if (start > path.length()) return false;
      int end = segmentEnd(path, start);
      if (segment.kind == SegmentKind.NAMED
          ? end - start != segment.name.length() || !path.startsWith(segment.name, start) : end == start)
        return false;
      start = end + 1;
    }
    return start > path.length() || segments.isEmpty() && path.length() == 1;
  }

  /** Returns whether routes can be mounted below this path. */
  boolean mayHaveRoutesBelow() {
    return method.isEmpty() && segments.stream().noneMatch(segment -> segment.kind == SegmentKind.REST);
  }

  /** Returns this pattern below another path. */
  RoutePattern below(String prefix) {
    var fullPath = prefix.equals("/") ? path() : path().equals("/") ? prefix : prefix + path();
    return of(method.map(name -> name + " ").orElse("") + fullPath);
  }

  /** Returns the index at which {@code {name...}} begins, with its slash. The path must match. */
  int restStart(String path) {
    int start = 1;
    for (var segment : segments) {
      if (segment.kind == SegmentKind.REST) break;
      start = segmentEnd(path, start) + 1;
    }
    return Math.min(start - 1, path.length());
  }

  /** Returns the parts of a path that match the names in braces, by name. The path must match. */
  Map<String, String> parts(String path) {
    var parts = new HashMap<String, String>();
    int start = 1;
    for (var segment : segments) {
      int end = segment.kind == SegmentKind.REST ? path.length() : segmentEnd(path, start);
      if (segment.kind != SegmentKind.NAMED) parts.put(segment.name, path.substring(Math.min(start, end), end));
      start = end + 1;
    }
    return parts;
  }

  private static int segmentEnd(String path, int start) {
    int end = path.indexOf('/', start);
    return end < 0 ? path.length() : end;
  }

  /** Returns whether both patterns take the same requests. */
  boolean isEquivalent(RoutePattern other) {
    return method.equals(other.method) && compare(other) == 0;
  }

  private int compare(RoutePattern other) {
    for (int i = 0; i < Math.min(segments.size(), other.segments.size()); i++) {
      var segment = segments.get(i);
      var otherSegment = other.segments.get(i);
      int order = segment.kind.compareTo(otherSegment.kind);
      if (order == 0 && segment.kind == SegmentKind.NAMED) order = segment.name.compareTo(otherSegment.name);
      if (order != 0) return order;
    }
    return Integer.compare(segments.size(), other.segments.size());
  }

  @Override
  public String toString() {
    return text;
  }
}
