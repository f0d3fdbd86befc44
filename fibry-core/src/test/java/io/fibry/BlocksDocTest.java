package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Everything that docs/blocks.md recommends exists. */
class BlocksDocTest {
  private static final Path DOC = Path.of("../docs/blocks.md");
  private static final Path MAIN = Path.of("src/main/java");
  static final List<String> PACKAGES = List.of("pool", "pubsub", "flow", "fsm", "net", "io");
  private static final Pattern ROW = Pattern.compile("(?m)^\\| (.*?) \\| (.*?) \\|(?: (.*?) \\|)?$");
  private static final Pattern NAME = Pattern.compile("`((?:[A-Z]\\w+\\.)+)(\\w+)");

  private static Stream<String> recommended() throws IOException {
    return ROW.matcher(Files.readString(DOC)).results().map(row -> row.group(2));
  }

  @Test
  void whatTheTablesRecommendExists() throws IOException {
    var missing = new TreeSet<String>();

    recommended().flatMap(cell -> NAME.matcher(cell).results()).filter(name -> !exists(name.group(1), name.group(2)))
        .forEach(name -> missing.add(name.group(1) + name.group(2)));

    assertEquals(new TreeSet<>(), missing);
  }

  @Test
  void everyBlockIsRecommended() throws IOException {
    var all = String.join("\n", recommended().toList());

    var blocks = PACKAGES.stream().flatMap(BlocksDocTest::blocks).toList();

    assertTrue(blocks.size() > 8, blocks.toString());
    assertEquals(List.of(), blocks.stream().filter(type -> !all.contains("`" + type + ".")).toList());
  }

  /** The public types of a package, without those that only belong to a block. */
  static Stream<String> blocks(String part) {
    return publicTypes("io/fibry/" + part)
        .filter(type -> !List.of("Subscription", "TcpOptions", "HttpOptions", "UdpPacket").contains(type));
  }

  private static Stream<String> publicTypes(String folder) {
    try (var files = Files.list(MAIN.resolve(folder))) {
      return files.filter(BlocksDocTest::isPublic).map(file -> file.getFileName().toString().replace(".java", ""))
          .toList().stream();
    } catch (IOException unreadable) {
      throw new java.io.UncheckedIOException(unreadable);
    }
  }

  private static boolean isPublic(Path file) {
    try {
      return Files.readString(file).contains("\npublic ");
    } catch (IOException unreadable) {
      throw new java.io.UncheckedIOException(unreadable);
    }
  }

  /** A public method or constant of the library, or of a JDK type that the tables name. */
  private static boolean exists(String path, String member) {
    String type = path.substring(0, path.length() - 1).replace('.', '$');
    return Stream
        .of("io.fibry", "io.fibry.mailbox", "io.fibry.pool", "io.fibry.pubsub", "io.fibry.flow", "io.fibry.fsm",
            "io.fibry.io", "io.fibry.net", "io.fibry.stereotype", "io.fibry.time")
        .anyMatch(part -> has(part + "." + type, member));
  }

  private static boolean has(String type, String member) {
    try {
      var found = Class.forName(type);
      return Arrays.stream(found.getMethods()).anyMatch(method -> method.getName().equals(member))
          || Arrays.stream(found.getFields()).anyMatch(field -> field.getName().equals(member));
    } catch (ClassNotFoundException none) {
      return false;
    }
  }
}
