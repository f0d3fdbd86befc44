package io.fibry.test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.codec.Codec;
import io.fibry.codec.TypeCodec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GoldenTest {
  /** The types of one version each. */
  static final class First {
    sealed interface Event {}

    record Deposited(long cents) implements Event {}

    record Closed(List<String> why) implements Event {}
  }

  static final class Second {
    sealed interface Event {}

    record Deposited(long cents, List<String> notes) implements Event {}

    record Closed(List<String> why) implements Event {}
  }

  static final class Third {
    sealed interface Event {}

    record Deposited(long cents, String currency) implements Event {}

    record Closed(List<String> why) implements Event {}
  }

  @TempDir
  private Path folder;

  private AssertionError failure(TypeCodec<?> codec) {
    return assertThrows(AssertionError.class, () -> Golden.check(codec, folder));
  }

  @Test
  void itFailsOnceForEachChangeThatIsSafe() throws IOException {
    var first = Codec.of(First.Event.class);

    assertEquals("the types have no samples yet. Look at " + folder + ", and commit it: its schema.txt is new, and "
        + "[Closed-1-v1.cbor, Deposited-1-v1.cbor]", failure(first).getMessage());
    Golden.check(first, folder);
    assertEquals(first.schema(), Files.readString(folder.resolve("schema.txt")));

    var second = Codec.of(Second.Event.class);
    assertEquals("the types have changed; old bytes can be read. Look at " + folder + ", and commit it: its "
        + "schema.txt is new, and [Deposited-1-v2.cbor]", failure(second).getMessage());
    Golden.check(second, folder);
  }

  @Test
  void itFailsWhereOldBytesCannotBeRead() {
    failure(Codec.of(First.Event.class));

    String text = failure(Codec.of(Third.Event.class)).getMessage();

    assertTrue(text.contains("Deposited-1-v1.cbor can no longer be read: Event.Deposited: field currency of Deposited"
        + " is missing"), text);
    assertTrue(text.contains("forms.reads(..)"), text);
    failure(Codec.of(Third.Event.class)); // for ever
  }

  @Test
  void anOldFormMakesThemReadable() {
    failure(Codec.of(First.Event.class));
    var third = Codec.of(Third.Event.class, forms -> forms.reads("Deposited", First.Deposited.class,
        old -> new Third.Deposited(old.cents(), "EUR")));

    failure(third);
    Golden.check(third, folder);
  }

  // @start region="golden"
  @Test
  void oldEventsCanBeRead() {
    Golden.check(Codec.of(First.Event.class), Path.of("src/test/resources/golden/events"));
  }
  // @end
}
