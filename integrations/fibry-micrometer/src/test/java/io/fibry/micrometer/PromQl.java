package io.fibry.micrometer;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * Checks expressions of Prometheus against a scrape. The syntax must be correct, and each name and
 * label must exist. Functions for counters get counters, and the two sides of an operator have the
 * same labels. Knows the part of the language that the files of this module use.
 */
final class PromQl {
  private static final Pattern SAMPLE = Pattern.compile("(\\w+)(?:\\{(.*)})? \\S+");
  private static final Pattern LABEL = Pattern.compile("(\\w+)=\"((?:[^\"\\\\]|\\\\.)*)\",?");
  private static final Pattern TYPE = Pattern.compile("# TYPE (\\w+) (\\w+)");
  private static final Pattern TOKEN =
      Pattern.compile("\\s*(?:(\"[^\"]*\"|[A-Za-z_]\\w*|\\d+[smhd]|\\d+(?:\\.\\d+)?|=~|!~|"
          + "[=!<>]=|[-+*/%(){},=<>]|\\[(?:\\d+[smhd](?::\\d+[smhd])?|\\$__rate_interval)])|$)");
  private static final Set<String> AGGREGATIONS = Set.of("sum", "min", "max", "avg", "count", "topk", "bottomk");
  private static final Set<String> OF_COUNTERS = Set.of("rate", "increase");
  private static final Set<String> OF_GAUGES = Set.of("delta", "deriv");
  private static final Set<String> OF_VECTORS = Set.of("timestamp");
  private static final Set<String> OF_RANGES =
      Set.of("min_over_time", "max_over_time", "avg_over_time", "last_over_time");
  private static final Set<String> INTERSECTIONS = Set.of("and", "unless");
  private static final List<Set<String>> OPERATORS = List.of(Set.of("or"), INTERSECTIONS,
      Set.of("==", "!=", "<", ">", "<=", ">="), Set.of("+", "-"), Set.of("*", "/", "%")); // the weakest first

  private final Map<String, List<Map<String, String>>> series = new HashMap<>(); // by the name of the sample
  private final Map<String, String> types = new HashMap<>(); // by the name of the family

  PromQl(String scrape) {
    for (var line : scrape.lines().toList()) {
      var type = TYPE.matcher(line);
      var sample = SAMPLE.matcher(line);
      if (type.matches()) types.put(type.group(1), type.group(2));
      else if (sample.matches()) series.computeIfAbsent(sample.group(1), name -> new ArrayList<>())
          .add(labels(Optional.ofNullable(sample.group(2)).orElse("")));
    }
  }

  private static Map<String, String> labels(String text) {
    var labels = new LinkedHashMap<>(Map.of("job", "shop", "instance", "shop:8080")); // added by Prometheus
    LABEL.matcher(text).results().forEach(label -> labels.put(label.group(1), label.group(2)));
    return labels;
  }

  /**
   * Checks an expression, and returns the labels of its result.
   *
   * @throws AssertionError if the expression is wrong
   */
  Set<String> check(String expression) {
    var parser = new Parser(expression);
    var result = parser.binary(0);
    if (!parser.peek().isEmpty()) throw parser.error("the end of the expression");
    return result.labels();
  }

  /**
   * A value: a scalar without labels, or a vector. A range is a selector with a duration; its type
   * is that of the family.
   */
  private record Value(boolean isScalar, boolean isRange, Set<String> labels, String type) {
    static final Value SCALAR = new Value(true, false, Set.of(), "scalar");

    Value without(Set<String> ignored) {
      var remaining = new TreeSet<>(labels);
      remaining.removeAll(ignored);
      return new Value(isScalar, isRange, remaining, type);
    }

    static Value vector(Set<String> labels) {
      return new Value(false, false, labels, "computed");
    }
  }

  private final class Parser {
    private final String expression;
    private final List<String> tokens = new ArrayList<>();
    private int next;

    Parser(String expression) {
      this.expression = expression;
      var matcher = TOKEN.matcher(expression);
      while (matcher.lookingAt() && matcher.group(1) != null) {
        tokens.add(matcher.group(1));
        matcher.region(matcher.end(), expression.length());
      }
      if (!matcher.lookingAt()) throw error("a token at " + expression.substring(matcher.regionStart()));
      tokens.add("");
    }

    AssertionError error(String expected) {
      return new AssertionError("expected " + expected + ", found '" + (tokens.size() > next ? peek() : "") + "' in "
          + expression);
    }

    String peek() {
      return tokens.get(next);
    }

    private boolean accept(String token) {
      if (!peek().equals(token)) return false;
      next++;
      return true;
    }

    private void expect(String token) {
      if (!accept(token)) throw error("'" + token + "'");
    }

    private String take() {
      return tokens.get(next++);
    }

    Value binary(int level) {
      if (level == OPERATORS.size()) return primary();
      var left = binary(level + 1);
      while (OPERATORS.get(level).contains(peek())) {
        var operator = take();
        if (accept("on")) {
          left = intersection(operator, left, names(), binary(level + 1));
          continue;
        }
        var ignored = accept("ignoring") ? names() : Set.<String>of();
        var right = binary(level + 1).without(ignored);
        left = left.without(ignored);
        if (left.isRange || right.isRange) throw error("no range beside '" + operator + "'");
        if (operator.equals("or") && !left.isScalar && !right.isScalar) {
          left = union(left, right);
          continue;
        }
        if (!left.isScalar && !right.isScalar && !left.labels.equals(right.labels))
          throw error("equal labels beside '" + operator + "' instead of " + left.labels + " and " + right.labels);
        left =
            left.isScalar && right.isScalar ? Value.SCALAR : Value.vector(left.isScalar ? right.labels : left.labels);
      }
      return left;
    }

    /** The two sides need only the labels on which they are joined. */
    private Value intersection(String operator, Value left, Set<String> on, Value right) {
      if (!INTERSECTIONS.contains(operator)) throw error("an operator of sets before 'on' instead of " + operator);
      if (left.isRange || right.isRange) throw error("no range beside '" + operator + "'");
      if (!left.labels.containsAll(on) || !right.labels.containsAll(on))
        throw error("the labels " + on + " in " + left.labels + " and " + right.labels);
      return Value.vector(left.labels);
    }

    /** Some series of the result may have further labels. */
    private Value union(Value left, Value right) {
      var common = new TreeSet<>(left.labels);
      common.retainAll(right.labels);
      return Value.vector(common);
    }

    /** Parses a value, and the range of a subquery such as {@code [5m:1m]} behind it. */
    private Value primary() {
      var value = simple();
      if (!peek().matches("\\[.+:.+]")) return value;
      if (value.isScalar || value.isRange) throw error("a vector before a subquery");
      take();
      return new Value(false, true, value.labels, value.type);
    }

    private Value simple() {
      if (accept("-")) return simple();
      if (accept("(")) {
        var value = binary(0);
        expect(")");
        return value;
      }
      var token = take();
      if (token.matches("\\d.*")) return Value.SCALAR;
      if (!token.matches("[A-Za-z_]\\w*")) throw error("a name instead of '" + token + "'");
      if (AGGREGATIONS.contains(token)) return aggregation(token);
      return peek().equals("(") ? function(token) : selector(token);
    }

    private Value aggregation(String name) {
      Set<String> by = accept("by") ? names() : Set.of();
      expect("(");
      if (name.endsWith("k")) {
        if (!binary(0).isScalar) throw error("a number for " + name);
        expect(",");
      }
      var value = binary(0);
      expect(")");
      if (value.isScalar || value.isRange) throw error("a vector in " + name);
      if (name.endsWith("k")) return value;
      for (var label : by)
        if (!value.labels.contains(label)) throw error("one of " + value.labels + " instead of " + label);
      return Value.vector(by);
    }

    private Set<String> names() {
      var names = new TreeSet<String>();
      expect("(");
      do names.add(take()); while (accept(","));
      expect(")");
      return names;
    }

    private Value function(String name) {
      var arguments = new ArrayList<Value>();
      expect("(");
      if (!accept(")")) {
        do arguments.add(binary(0)); while (accept(","));
        expect(")");
      }
      if (name.equals("time") && arguments.isEmpty()) return Value.SCALAR;
      if (name.equals("histogram_quantile") && arguments.size() == 2 && arguments.getFirst().isScalar) {
        var labels = new TreeSet<>(arguments.getLast().labels);
        if (!labels.remove("le")) throw error("the label le in the buckets");
        return Value.vector(labels);
      }
      if (OF_VECTORS.contains(name)) {
        if (arguments.size() != 1 || arguments.getFirst().isRange || arguments.getFirst().isScalar)
          throw error("one vector in " + name);
        return Value.vector(arguments.getFirst().labels);
      }
      boolean isOfCounters = OF_COUNTERS.contains(name);
      if (!isOfCounters && !OF_GAUGES.contains(name) && !OF_RANGES.contains(name))
        throw error("a known function instead of " + name);
      if (arguments.size() != 1 || !arguments.getFirst().isRange) throw error("one range in " + name);
      if (isOfCounters != arguments.getFirst().type.equals("counter"))
        throw error("no " + arguments.getFirst().type + " in " + name);
      return Value.vector(arguments.getFirst().labels);
    }

    private Value selector(String name) {
      var found = series.get(name);
      if (found == null) throw error("a name of the scrape instead of " + name);
      var matching = new ArrayList<>(found);
      if (accept("{")) {
        do {
          var label = take();
          var operator = take();
          var text = take();
          if (!text.startsWith("\"")) throw error("a text in quotes");
          var value = text.substring(1, text.length() - 1);
          if (found.stream().noneMatch(labels -> labels.containsKey(label)))
            throw error("a label of " + name + " instead of " + label);
          matching.removeIf(labels -> !matches(labels.getOrDefault(label, ""), operator, value));
        } while (accept(","));
        expect("}");
      }
      if (matching.isEmpty()) throw error("series of " + name + " with these labels, of " + found);
      boolean isRange = peek().startsWith("[");
      if (isRange) take();
      if (accept("offset") && !take().matches("\\d+[smhd]")) throw error("a duration after 'offset'");
      return new Value(false, isRange, new TreeSet<>(matching.getFirst().keySet()), type(name));
    }

    private boolean matches(String actual, String operator, String expected) {
      return switch (operator) {
        case "=" -> actual.equals(expected);
        case "!=" -> !actual.equals(expected);
        case "=~" -> actual.matches(expected);
        case "!~" -> !actual.matches(expected);
        default -> throw error("an operator of labels instead of " + operator);
      };
    }

    private String type(String name) {
      var ofFamily = types.get(name);
      if (ofFamily != null) return ofFamily;
      boolean isPart = List.of("histogram", "summary").contains(types.get(name.replaceAll("_(bucket|count|sum)$", "")));
      if (!isPart) throw error("a type of " + name);
      return "counter";
    }
  }
}
