package io.fibry.bench.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.StreamSupport;
import tools.jackson.databind.JsonNode;

/**
 * Reads what the runs left: our own files, those of JMH ({@code -rf json}) and of the Savina
 * programs, in whatever order they lie in a folder.
 */
public final class ResultFiles {
  private static final String SIDE = "who"; // the parameter that names a peer
  // of its values, our strategies
  private static final Set<String> OURS = Set.of("fiber", "thread", "resident", "forkjoin", "caller", "sink", "future");

  private ResultFiles() {}

  /**
   * Reads all JSON files of a folder and of those in it, two deep.
   *
   * @param folder where they are
   * @return what they say, in the order of their names
   * @throws IOException if one cannot be read
   */
  public static List<Result> read(Path folder) throws IOException {
    var all = new ArrayList<Result>();
    for (var file : files(folder)) all.addAll(readFile(file));
    all.sort(Comparator.comparing(Result::question));
    return all;
  }

  static List<Path> files(Path folder) throws IOException {
    try (var files =
        Files.find(folder, 2, (file, attributes) -> attributes.isRegularFile() && file.toString().endsWith(".json"))) {
      return files.sorted().toList();
    }
  }

  /** None where the file is something else. */
  static List<Result> readFile(Path file) throws IOException {
    var json = Result.JSON.readTree(Files.readString(file));
    if (json.has("question") && json.has("rows")) return List.of(Result.JSON.treeToValue(json, Result.class));
    if (!json.isArray() || json.isEmpty()) return List.of();
    String date = Files.getLastModifiedTime(file).toString().substring(0, 10);
    if (json.get(0).has("primaryMetric")) return jmh(json, date);
    return json.get(0).has("program") ? savina(json, date) : List.of();
  }

  private static List<JsonNode> elements(JsonNode array) {
    return StreamSupport.stream(array.spliterator(), false).toList();
  }

  // ---- JMH: each benchmark class is a question, also each method where a parameter names the
  // peer, and each choice of the other parameters

  private static List<Result> jmh(JsonNode runs, String date) {
    var rows = new LinkedHashMap<String, List<Row>>();
    var first = new LinkedHashMap<String, JsonNode>();
    for (var run : elements(runs)) {
      var parameters = parameters(run);
      String who = parameters.remove(SIDE);
      String peer = who != null && OURS.contains(who) ? "fibry, " + who : who;
      String name = run.get("benchmark").asString();
      String method = name.substring(name.lastIndexOf('.') + 1);
      String type = name.substring(0, name.lastIndexOf('.')).replaceAll(".*\\.", "");
      var key = new StringBuilder("jmh-" + type);
      if (peer != null) key.append('-').append(method);
      parameters.forEach((parameter, value) -> key.append('-').append(parameter).append('-').append(value));
      if (!run.get("mode").asString().equals("avgt")) key.append('-').append(run.get("mode").asString());
      String question = key.toString().replaceAll("[^\\w.-]", "_");
      rows.computeIfAbsent(question, none -> new ArrayList<>())
          .add(row(peer == null ? method : peer, run.get("primaryMetric")));
      first.putIfAbsent(question, run);
      secondary(run, question, peer == null ? method : peer, rows, first);
    }
    return rows.entrySet().stream()
        .map(entry -> result(entry.getKey(), first.get(entry.getKey()), date, entry.getValue())).toList();
  }

  /** Of what JMH can add, the bytes allocated. */
  private static void secondary(JsonNode run, String question, String side, Map<String, List<Row>> rows,
      Map<String, JsonNode> first) {
    var allocated = run.path("secondaryMetrics").path("gc.alloc.rate.norm");
    if (allocated.isMissingNode()) return;
    rows.computeIfAbsent(question + "-allocated", none -> new ArrayList<>()).add(row(side, allocated));
    first.putIfAbsent(question + "-allocated", run);
  }

  private static Map<String, String> parameters(JsonNode run) {
    var parameters = new TreeMap<String, String>();
    run.path("params").properties().forEach(entry -> parameters.put(entry.getKey(), entry.getValue().asString()));
    return parameters;
  }

  /** The median of all iterations of all forks. */
  private static Row row(String side, JsonNode metric) {
    double[] rounds = elements(metric.get("rawData")).stream().flatMap(fork -> elements(fork).stream())
        .mapToDouble(JsonNode::asDouble).toArray();
    if (rounds.length == 0) rounds = new double[] {metric.get("score").asDouble()};
    return Row.of(side, metric.get("scoreUnit").asString(), "", rounds);
  }

  private static Result result(String question, JsonNode run, String date, List<Row> rows) {
    String name = run.get("benchmark").asString();
    String title = (parameters(run).containsKey(SIDE) ? name : name.substring(0, name.lastIndexOf('.'))) + "; "
        + Math.max(1, run.get("primaryMetric").get("rawData").size()) + " forks of "
        + run.get("measurementIterations").asInt() + " iterations"
        + (parameters(run).isEmpty() ? "" : question.replaceFirst("^jmh-[^-]*", "").replace('-', ' '));
    return new Result(question, title, run.path("vmVersion").asString(run.path("jdkVersion").asString("")), 0, "", date,
        rows);
  }

  // ---- Savina: a list of what each side of each program took

  private static List<Result> savina(JsonNode sides, String date) {
    var programs = new LinkedHashMap<String, List<JsonNode>>();
    for (var side : elements(sides))
      programs.computeIfAbsent(side.get("program").asString(), none -> new ArrayList<>()).add(side);
    return programs.entrySet().stream().map(program -> {
      var first = program.getValue().getFirst();
      var rows = program.getValue().stream()
          .map(side -> new Row(side.get("side").asString(), side.path("unit").asString("ms"),
              side.get("median").asDouble(), side.get("least").asDouble(), side.get("most").asDouble(), "", 0))
          .toList();
      return new Result("savina-" + program.getKey(),
          (program.getKey() + ", " + first.path("size").asString("")).replaceFirst(", $", ""),
          first.get("jdk").asString(), first.path("processors").asInt(), "", date, rows);
    }).toList();
  }
}
