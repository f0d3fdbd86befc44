package io.fibry.net;

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
 * Which requests a route takes: {@code GET /orders/{id}}. Without a method it takes all; that for
 * GET takes HEAD, too.
 *
 * @param text as the user wrote it
 * @param method empty: all
 * @param segments of the path
 */
record RoutePattern(String text, Optional<String> method, List<PathSegment> segments) {
  private static final Set<String> METHODS = Set.of("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS");

  /** What a path has between two slashes. The kinds are in the order in which they are tried. */
  enum SegmentKind {
    NAMED, ANY, REST
  }

  /** A name, or the name of what stands there. */
  record PathSegment(SegmentKind kind, String name) {
    private static PathSegment of(String text) {
      if (!text.startsWith("{")) return new PathSegment(SegmentKind.NAMED, text);
      boolean rest = text.endsWith("...}");
      return new PathSegment(rest ? SegmentKind.REST : SegmentKind.ANY,
          text.substring(1, text.length() - (rest ? 4 : 1)));
    }
  }

  /** Segment by segment, the more exact route is tried first. */
  static final Comparator<RoutePattern> ORDER = RoutePattern::compare;

  static RoutePattern of(String text) {
    int space = Objects.requireNonNull(text, "path").indexOf(' ');
    var method = space < 0 ? Optional.<String>empty() : Optional.of(text.substring(0, space));
    var path = text.substring(space + 1);
    if (method.isPresent() && !METHODS.contains(method.get()))
      throw bad(text, "'" + method.get() + "' is no method; give GET, POST, PUT, DELETE, PATCH, HEAD or OPTIONS");
    boolean whole = path.equals("/") || path.startsWith("/") && !path.endsWith("/") && !path.contains("//");
    if (!whole || path.contains("?") || path.contains("/./") || path.contains("/../") || path.endsWith("/.")
        || path.endsWith("/..") || path.chars().anyMatch(Character::isISOControl))
      throw bad(text, "no request can have this path; give \"/\" or \"/name\", without a slash at the end, dots to "
          + "climb by or a query");
    return new RoutePattern(text, method, segments(text, path));
  }

  private static List<PathSegment> segments(String text, String path) {
    var segments = new ArrayList<PathSegment>();
    var names = new HashSet<String>();
    var parts = path.equals("/") ? new String[0] : path.substring(1).split("/");
    for (int i = 0; i < parts.length; i++) {
      boolean open = parts[i].matches("\\{\\w+(\\.\\.\\.)?}");
      if (!open && (parts[i].contains("{") || parts[i].contains("}")))
        throw bad(text, "'" + parts[i] + "' is neither a name nor {name} nor {name...}");
      var segment = PathSegment.of(parts[i]);
      if (segment.kind == SegmentKind.REST && i < parts.length - 1)
        throw bad(text, "'" + parts[i] + "' takes the rest of the path, so nothing can follow");
      if (open && !names.add(segment.name)) throw bad(text, "two parts have the name '" + segment.name + "'");
      segments.add(segment);
    }
    return List.copyOf(segments);
  }

  private static IllegalArgumentException bad(String text, String why) {
    return new IllegalArgumentException("'" + text + "' cannot be a route: " + why);
  }

  /** It has one path only. */
  boolean isFixed() {
    return segments.stream().allMatch(one -> one.kind == SegmentKind.NAMED);
  }

  String path() {
    return text.substring(text.indexOf(' ') + 1);
  }

  boolean matchesMethod(String asked) {
    return method.isEmpty() || method.get().equals(asked) || asked.equals("HEAD") && method.get().equals("GET");
  }

  boolean matchesPath(String path) {
    int from = 1;
    for (var segment : segments) {
      if (segment.kind == SegmentKind.REST) return true;
      if (from > path.length()) return false;
      int to = end(path, from);
      if (segment.kind == SegmentKind.NAMED ? to - from != segment.name.length() || !path.startsWith(segment.name, from)
          : to == from)
        return false;
      from = to + 1;
    }
    return from > path.length() || segments.isEmpty() && path.length() == 1;
  }

  /** Returns the parts of a path that this route takes, by name. */
  Map<String, String> parts(String path) {
    var parts = new HashMap<String, String>();
    int from = 1;
    for (var segment : segments) {
      int to = segment.kind == SegmentKind.REST ? path.length() : end(path, from);
      if (segment.kind != SegmentKind.NAMED) parts.put(segment.name, path.substring(Math.min(from, to), to));
      from = to + 1;
    }
    return parts;
  }

  private static int end(String path, int from) {
    int to = path.indexOf('/', from);
    return to < 0 ? path.length() : to;
  }

  /** Whether both take the same requests. */
  boolean isEquivalent(RoutePattern other) {
    return method.equals(other.method) && compare(other) == 0;
  }

  private int compare(RoutePattern other) {
    for (int i = 0; i < Math.min(segments.size(), other.segments.size()); i++) {
      var mine = segments.get(i);
      var theirs = other.segments.get(i);
      int order = mine.kind.compareTo(theirs.kind);
      if (order == 0 && mine.kind == SegmentKind.NAMED) order = mine.name.compareTo(theirs.name);
      if (order != 0) return order;
    }
    return Integer.compare(segments.size(), other.segments.size());
  }

  @Override
  public String toString() {
    return text;
  }
}
