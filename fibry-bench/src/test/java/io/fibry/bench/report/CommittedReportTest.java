package io.fibry.bench.report;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that the committed pages show all committed results, as the report writes them. */
class CommittedReportTest {
  private static final Path DOCS = Path.of("../docs");

  @Test
  void committedPagesEqualReportOfCommittedResults(@TempDir Path docs, @TempDir Path emptyFolder) throws Exception {
    copy("benchmarks.md", docs);
    copy("benchmarks", docs);

    assertEquals(List.of(), Report.write(emptyFolder, docs));

    assertEquals(texts(DOCS), texts(docs));
  }

  private static void copy(String name, Path target) throws IOException {
    try (var files = Files.walk(DOCS.resolve(name))) {
      for (var file : files.toList()) Files.copy(file, target.resolve(DOCS.relativize(file)));
    }
  }

  /** Returns the texts of the pages, their data and the charts by path. */
  private static TreeMap<String, String> texts(Path docs) throws IOException {
    var texts = new TreeMap<String, String>();
    try (var files = Files.walk(docs, 3)) {
      for (var file : files
          .filter(file -> docs.relativize(file).toString().matches("benchmarks.*\\.(md|json)|charts.*\\.svg"))
          .toList())
        texts.put(docs.relativize(file).toString(), Files.readString(file));
    }
    return texts;
  }
}
