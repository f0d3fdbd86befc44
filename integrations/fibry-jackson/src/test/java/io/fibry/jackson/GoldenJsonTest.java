package io.fibry.jackson;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.codec.Codec;
import io.fibry.codec.DerivedCodec;
import io.fibry.test.GoldenFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GoldenJsonTest {
  static final class FirstVersion {
    sealed interface Event {}

    record Deposited(long cents) implements Event {}
  }

  static final class SecondVersion {
    sealed interface Event {}

    record Deposited(long cents, String currency) implements Event {}
  }

  @TempDir
  private Path folder;

  private AssertionError failure(DerivedCodec<?> codec) {
    return assertThrows(AssertionError.class, () -> GoldenFiles.check(codec, folder));
  }

  @Test
  void goldenCheckWritesReadableJsonSamples() throws IOException {
    var codec = JacksonCodecs.of(FirstVersion.Event.class);

    assertTrue(failure(codec).getMessage().endsWith("[Deposited-1-v1.json]"));
    assertEquals("{\"Deposited\":{\"cents\":-4711000000}}", Files.readString(folder.resolve("Deposited-1-v1.json")));
    GoldenFiles.check(codec, folder);
  }

  @Test
  void jsonThatNewVersionCannotReadFailsGoldenCheck() {
    failure(JacksonCodecs.of(FirstVersion.Event.class));

    String text = failure(JacksonCodecs.of(SecondVersion.Event.class)).getMessage();

    assertTrue(text.contains("Deposited-1-v1.json can no longer be read: Event.Deposited: field currency"), text);
  }

  @Test
  void cborFilesFailGoldenCheckOfJsonCodec() throws IOException {
    failure(Codec.of(FirstVersion.Event.class));

    assertTrue(failure(JacksonCodecs.of(FirstVersion.Event.class)).getMessage()
        .contains("Deposited-1-v1.cbor can no longer"));

    Files.delete(folder.resolve("Deposited-1-v1.cbor")); // a developer may do this if no store has values in CBOR
    assertEquals(List.of("schema.txt"), names());
  }

  private List<String> names() throws IOException {
    try (var files = Files.list(folder)) {
      return files.map(file -> file.getFileName().toString()).toList();
    }
  }
}
