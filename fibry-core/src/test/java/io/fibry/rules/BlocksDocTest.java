package io.fibry.rules;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Tests that every block has a row in docs/blocks.md. */
class BlocksDocTest {
  private static final Path DOC = Path.of("../docs/blocks.md");
  private static final Path MAIN = Path.of("src/main/java");
  static final List<String> PACKAGES = List.of("pool", "pubsub", "flow", "fsm", "net", "io");
  private static final List<String> BLOCK_PARTS = List.of("Subscription", "TcpOptions", "HttpOptions", "AccessLogEntry",
      "AccessLogFormat", "BodyCodec", "ErrorBody", "HttpException", "SubscriberTotals", "UdpPacket", "WebSocketClose",
      "WebSocketMessage",
      "WebSocketOptions");
  private static final Pattern ROW = Pattern.compile("(?m)^\\| .*? \\| (.*?) \\|(?: .*? \\|)?$");

  @Test
  void everyBlockHasRowInDocument() throws IOException {
    var rows = ROW.matcher(Files.readString(DOC)).results().map(row -> row.group(1)).collect(Collectors.joining("\n"));

    var blocks = PACKAGES.stream().flatMap(BlocksDocTest::blocks).toList();

    assertTrue(blocks.size() > 8, blocks.toString());
    assertEquals(List.of(), blocks.stream().filter(type -> !rows.contains("`" + type + ".")).toList());
  }

  /**
   * Returns the public types of a package, except {@link #BLOCK_PARTS}, which are parts of blocks.
   */
  static Stream<String> blocks(String blockPackage) {
    return publicTypes("io/fibry/" + blockPackage)
        .filter(type -> !BLOCK_PARTS.contains(type));
  }

  private static Stream<String> publicTypes(String folder) {
    try (var files = Files.list(MAIN.resolve(folder))) {
      return files.filter(Files::isRegularFile).filter(BlocksDocTest::isPublic)
          .map(file -> file.getFileName().toString().replace(".java", ""))
          .toList().stream();
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  private static boolean isPublic(Path file) {
    try {
      return Files.readString(file).contains("\npublic ");
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }
}
