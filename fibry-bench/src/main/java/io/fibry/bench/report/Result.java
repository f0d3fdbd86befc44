package io.fibry.bench.report;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.List;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * What a question was answered with: the common shape of all figures, a JSON file each. The first
 * row is ours unless another one's name begins with {@code fib}.
 *
 * @param question its name, which is the file's
 * @param title what was asked, in words
 * @param jdk which ran it
 * @param processors how many it had
 * @param machine what it ran on
 * @param date of the run
 * @param rows the sides
 */
public record Result(String question, @JsonInclude(JsonInclude.Include.NON_EMPTY) String title, String jdk,
    int processors, String machine, String date, List<Row> rows) {
  static final JsonMapper JSON = JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

  /** A file need not have all. */
  public Result {
    title = title == null ? "" : title;
    rows = List.copyOf(rows);
  }

  /**
   * Found here and now.
   *
   * @param question its name
   * @param title what was asked, in words
   * @param rows the sides
   * @return what was found
   */
  public static Result here(String question, String title, List<Row> rows) {
    return new Result(question, title, Runtime.version().toString(), Runtime.getRuntime().availableProcessors(),
        machineHere(), LocalDate.now().toString(), rows);
  }

  /** The name of the processor and the memory, where the system tells them. */
  private static String machineHere() {
    try {
      String cpu = first(Path.of("/proc/cpuinfo"), "model name");
      String memory = first(Path.of("/proc/meminfo"), "MemTotal").replaceAll("\\D", "");
      return cpu + ", " + Math.round(Long.parseLong(memory) / (double) (1 << 20)) + " GiB, "
          + System.getProperty("os.name");
    } catch (IOException | RuntimeException unknown) {
      return System.getProperty("os.arch") + ", " + System.getProperty("os.name");
    }
  }

  private static String first(Path file, String key) throws IOException {
    try (var lines = Files.lines(file)) {
      return lines.filter(line -> line.startsWith(key)).map(line -> line.substring(line.indexOf(':') + 1).strip())
          .findFirst().orElseThrow();
    }
  }

  /**
   * The row that the others are compared with.
   *
   * @return ours
   */
  public Row ours() {
    return rows.stream().filter(row -> row.side().startsWith("fib")).findFirst().orElse(rows.getFirst());
  }

  /** Ours, of the same unit and size; where there is none, the first of these. */
  Row base(Row row) {
    var alike = rows.stream().filter(other -> other.unit().equals(row.unit()) && other.size() == row.size()).toList();
    return alike.stream().filter(other -> other.side().startsWith("fib")).findFirst().orElse(alike.getFirst());
  }

  /**
   * Writes it to {@code <question>.json}.
   *
   * @param folder made if absent
   * @return the file
   * @throws IOException if it cannot
   */
  public Path write(Path folder) throws IOException {
    Files.createDirectories(folder);
    return Files.writeString(folder.resolve(question + ".json"), JSON.writeValueAsString(this) + "\n");
  }
}
