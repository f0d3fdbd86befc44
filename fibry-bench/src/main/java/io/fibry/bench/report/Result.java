package io.fibry.bench.report;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.List;
import java.util.Set;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * The measurements of all sides of a question, which are stored in a JSON file.
 *
 * @param question the name of the question, and of the file
 * @param title the measured quantity, in words
 */
public record Result(String question, @JsonInclude(JsonInclude.Include.NON_EMPTY) String title, String jdk,
    int processors, String machine, String date, List<ResultRow> rows) {
  private static final Set<String> PROMISES = Set.of("budgets", "budgets-durable");
  static final JsonMapper JSON = JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

  public Result {
    title = title == null ? "" : title;
    rows = List.copyOf(rows);
  }

  public static Result here(String question, String title, List<ResultRow> rows) {
    return new Result(question, title, Runtime.version().toString(), Runtime.getRuntime().availableProcessors(),
        describeMachine(), LocalDate.now().toString(), rows);
  }

  private static String describeMachine() {
    try {
      String cpu = firstValue(Path.of("/proc/cpuinfo"), "model name");
      String memory = firstValue(Path.of("/proc/meminfo"), "MemTotal").replaceAll("\\D", "");
      return cpu + ", " + Math.round(Long.parseLong(memory) / (double) (1 << 20)) + " GiB, "
          + System.getProperty("os.name");
    } catch (IOException | RuntimeException failure) {
      return System.getProperty("os.arch") + ", " + System.getProperty("os.name");
    }
  }

  private static String firstValue(Path file, String key) throws IOException {
    try (var lines = Files.lines(file)) {
      return lines.filter(line -> line.startsWith(key)).map(line -> line.substring(line.indexOf(':') + 1).strip())
          .findFirst().orElseThrow();
    }
  }

  String name() {
    return question.replaceFirst("^(jmh|savina)-", "");
  }

  String environment() {
    return "JDK " + jdk + ", " + machine + ", " + processors + " processors";
  }

  /** Returns whether the rows are promises: measurements or ratios that have a bound. */
  boolean isPromise() {
    return isPromise(question);
  }

  static boolean isPromise(String question) {
    return PROMISES.contains(question);
  }

  Comparison comparison() {
    return Comparisons.of(question);
  }

  Side side(ResultRow row) {
    return comparison().side(row.side());
  }

  /** Returns the base row, with which a row is compared. */
  ResultRow base(ResultRow row) {
    return comparison().base(row, rows);
  }

  /** Throws if a side is not declared. */
  public void checkSides() {
    if (!isPromise()) rows.forEach(this::side);
  }

  /** Throws if a side is not declared, a row has no base row, or its size has no declared noun. */
  void check() {
    checkSides();
    if (isPromise()) return;
    rows.forEach(this::base);
    if (comparison().sizeNoun().isEmpty() && rows.stream().anyMatch(row -> row.size() > 0))
      throw new IllegalStateException("'" + question + "' has sizes; say in Comparisons what they count");
  }

  /** Writes {@code question.json} to the folder {@code -Dresults}. */
  public void write() throws IOException {
    System.out.println("written: " + write(resultFolder()).toAbsolutePath());
  }

  Path write(Path folder) throws IOException {
    return write(folder, question, this);
  }

  /** Writes several results to {@code name.json} in the folder {@code -Dresults}. */
  public static void writeAll(String name, List<Result> results) throws IOException {
    System.out.println("written: " + write(resultFolder(), name, results).toAbsolutePath());
  }

  private static Path write(Path folder, String name, Object content) throws IOException {
    Files.createDirectories(folder);
    return Files.writeString(folder.resolve(name + ".json"), JSON.writeValueAsString(content) + "\n");
  }

  private static Path resultFolder() {
    return Path.of(System.getProperty("results", "target/results"));
  }
}
