package io.fibry.bench.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.StreamSupport;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Reads and copies result files: of {@link Result}, of JMH ({@code -rf json}), and of the Savina
 * programs.
 */
public final class ResultFiles {
  private static final String PEER_PARAMETER = "who"; // the parameter that names a peer

  private ResultFiles() {}

  /** Returns the results in a folder and its direct subfolders, sorted by question. */
  public static List<Result> read(Path folder) throws IOException {
    var results = new ArrayList<Result>();
    for (var file : files(folder)) results.addAll(read(file, Result.JSON.readTree(Files.readString(file))));
    results.sort(Comparator.comparing(Result::question));
    return results;
  }

  /**
   * Copies result files. Adds the date to each run that has none, and removes the path of the JDK
   * that JMH writes. Throws if two files would get the same name.
   */
  static void archive(Path from, Path to) throws IOException {
    Files.createDirectories(to);
    var filesByName = new HashMap<String, Path>(); // by the names of their copies, in lower case
    for (var file : files(from)) {
      var json = Result.JSON.readTree(Files.readString(file));
      if (read(file, json).isEmpty()) continue;
      for (var run : elements(json)) if (run instanceof ObjectNode object) {
        object.put("date", date(run, file));
        object.remove("jvm");
      }
      String fileName = file.getFileName().toString();
      // adds the prefix, because some file systems do not distinguish Creation.json of JMH from
      // creation.json of a scenario
      String name = isJmh(json) && !fileName.startsWith("jmh-") ? "jmh-" + fileName : fileName;
      var otherFile = filesByName.put(name.toLowerCase(Locale.ROOT), file);
      if (otherFile != null) throw new IllegalStateException(
          otherFile + " and " + file + " would both be copied to " + to.resolve(name)
              + "; delete or rename one of them");
      Files.writeString(to.resolve(name), Result.JSON.writeValueAsString(json) + "\n");
    }
  }

  private static List<Path> files(Path folder) throws IOException {
    try (var files =
        Files.find(folder, 2, (file, attributes) -> attributes.isRegularFile() && file.toString().endsWith(".json"))) {
      return files.sorted().toList();
    }
  }

  /** Returns the results of a file; an empty list if it is no result file. */
  private static List<Result> read(Path file, JsonNode json) throws IOException {
    if (json.has("question") && json.has("rows")) return List.of(Result.JSON.treeToValue(json, Result.class));
    if (json.isArray() && json.path(0).has("question")) return results(json);
    if (isJmh(json)) return jmh(json, date(json.get(0), file));
    return json.isArray() && json.path(0).has("program") ? savina(json, date(json.get(0), file)) : List.of();
  }

  private static List<Result> results(JsonNode array) {
    return elements(array).stream().map(element -> Result.JSON.treeToValue(element, Result.class)).toList();
  }

  private static boolean isJmh(JsonNode json) {
    return json.isArray() && json.path(0).has("primaryMetric");
  }

  private static String date(JsonNode run, Path file) throws IOException {
    return run.path("date").asString(Files.getLastModifiedTime(file).toString().substring(0, 10));
  }

  private static List<JsonNode> elements(JsonNode array) {
    return array.isArray() ? StreamSupport.stream(array.spliterator(), false).toList() : List.of();
  }

  // ---- JMH: each class has a result, with a row for each method. If a parameter names the peer,
  // each method has a result, with a row for each peer. Each value of the other parameters, each
  // mode other than avgt, and the allocation rate have their own results.

  private static List<Result> jmh(JsonNode runs, String date) {
    var rows = new LinkedHashMap<String, List<ResultRow>>();
    var firstRuns = new LinkedHashMap<String, JsonNode>();
    for (var run : elements(runs)) {
      var parameters = parameters(run);
      String peer = parameters.remove(PEER_PARAMETER);
      String name = run.get("benchmark").asString();
      String method = name.substring(name.lastIndexOf('.') + 1);
      String side = peer == null ? method : Comparisons.peer(peer);
      var questionName = new StringBuilder("jmh-" + benchmarkClass(run));
      if (peer != null) questionName.append('-').append(method);
      parameters.forEach((parameter, value) -> questionName.append('-').append(parameter).append('-').append(value));
      if (!run.get("mode").asString().equals("avgt")) questionName.append('-').append(run.get("mode").asString());
      String question = questionName.toString().replaceAll("[^\\w.-]", "_");
      add(question, side, run, run.get("primaryMetric"), rows, firstRuns);
      var allocated = run.path("secondaryMetrics").path("gc.alloc.rate.norm");
      if (!allocated.isMissingNode()) add(question + "-allocated", side, run, allocated, rows, firstRuns);
    }
    return rows.entrySet().stream()
        .map(entry -> result(entry.getKey(), firstRuns.get(entry.getKey()), date, entry.getValue())).toList();
  }

  private static void add(String question, String side, JsonNode run, JsonNode metric,
      Map<String, List<ResultRow>> rows,
      Map<String, JsonNode> firstRuns) {
    rows.computeIfAbsent(question, key -> new ArrayList<>()).add(row(side, metric));
    firstRuns.putIfAbsent(question, run);
  }

  private static Map<String, String> parameters(JsonNode run) {
    var parameters = new TreeMap<String, String>();
    run.path("params").properties().forEach(entry -> parameters.put(entry.getKey(), entry.getValue().asString()));
    return parameters;
  }

  private static String benchmarkClass(JsonNode run) {
    return run.get("benchmark").asString().replaceAll(".*\\.(\\w+)\\.\\w+$", "$1");
  }

  private static ResultRow row(String side, JsonNode metric) {
    double[] rounds = elements(metric.get("rawData")).stream().flatMap(fork -> elements(fork).stream())
        .mapToDouble(JsonNode::asDouble).toArray();
    if (rounds.length == 0) rounds = new double[] {metric.get("score").asDouble()};
    return ResultRow.of(side, metric.get("scoreUnit").asString(), "", rounds);
  }

  private static Result result(String question, JsonNode run, String date, List<ResultRow> rows) {
    String title = "`" + benchmarkClass(run) + "`"
        + question.substring(("jmh-" + benchmarkClass(run)).length()).replace('-', ' ') + "; "
        + Math.max(1, run.get("primaryMetric").get("rawData").size()) + " forks of "
        + run.get("measurementIterations").asInt() + " iterations";
    return new Result(question, title, run.path("vmVersion").asString(run.path("jdkVersion").asString("")), 0, "", date,
        rows);
  }

  // ---- Savina

  private static List<Result> savina(JsonNode sides, String date) {
    var programs = new LinkedHashMap<String, List<JsonNode>>();
    for (var side : elements(sides))
      programs.computeIfAbsent(side.get("program").asString(), key -> new ArrayList<>()).add(side);
    return programs.entrySet().stream().map(program -> {
      var firstSide = program.getValue().getFirst();
      var rows = program.getValue().stream()
          .map(side -> new ResultRow(side.get("side").asString(), side.path("unit").asString("ms"),
              side.get("median").asDouble(), side.get("least").asDouble(), side.get("most").asDouble(), "", 0))
          .toList();
      return new Result("savina-" + program.getKey(), firstSide.path("size").asString(""),
          firstSide.get("jdk").asString(), firstSide.path("processors").asInt(), "", date, rows);
    }).toList();
  }
}
