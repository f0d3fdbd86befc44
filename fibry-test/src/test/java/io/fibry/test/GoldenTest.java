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
import java.util.Map;
import java.util.Optional;
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
    return assertThrows(AssertionError.class, () -> GoldenFiles.check(codec, folder));
  }

  @Test
  void goldenCheckFailsOnceForEachSafeChange() throws IOException {
    var first = Codec.of(First.Event.class);

    assertEquals("the types have no samples yet. Look at " + folder + ", and commit it: its schema.txt is new, and "
        + "[Closed-1-v1.cbor, Deposited-1-v1.cbor]", failure(first).getMessage());
    GoldenFiles.check(first, folder);
    assertEquals(first.schema(), Files.readString(folder.resolve("schema.txt")));

    var second = Codec.of(Second.Event.class);
    assertEquals("the types have changed; old bytes can be read. Look at " + folder + ", and commit it: its "
        + "schema.txt is new, and [Deposited-1-v2.cbor]", failure(second).getMessage());
    GoldenFiles.check(second, folder);
  }

  @Test
  void goldenCheckFailsWhenOldBytesAreUnreadable() {
    failure(Codec.of(First.Event.class));

    String text = failure(Codec.of(Third.Event.class)).getMessage();

    assertTrue(text.contains("Deposited-1-v1.cbor can no longer be read: Event.Deposited: field currency of Deposited"
        + " is missing"), text);
    assertTrue(text.contains("evolution.readOld(..)"), text);
    failure(Codec.of(Third.Event.class)); // for ever
  }

  @Test
  void oldFormMakesOldBytesReadable() {
    failure(Codec.of(First.Event.class));
    var third = Codec.of(Third.Event.class, forms -> forms.readOld("Deposited", First.Deposited.class,
        old -> new Third.Deposited(old.cents(), "EUR")));

    failure(third);
    GoldenFiles.check(third, folder);
  }

  /** A record far inside. */
  static final class Deep {
    record Leaf(long size) {}
    record Twig(List<Leaf> leaves, Optional<Leaf> best) {}
    record Branch(Map<String, Twig> twigs) {}
    record Tree(List<Branch> branches, List<Tree> near, List<Tree> far) {}
  }

  static final class Other {
    record Leaf(String size) {}
    record Twig(List<Leaf> leaves, Optional<Leaf> best) {}
    record Branch(Map<String, Twig> twigs) {}
    record Tree(List<Branch> branches, List<Tree> near, List<Tree> far) {}
  }

  static final class Fewer {
    record Leaf() {}
    record Twig(List<Leaf> leaves, Optional<Leaf> best) {}
    record Branch(Map<String, Twig> twigs) {}
    record Tree(List<Branch> branches, List<Tree> near, List<Tree> far) {}
  }

  @Test
  void deeplyNestedChangeIsRefused() {
    failure(Codec.of(Deep.Tree.class));
    GoldenFiles.check(Codec.of(Deep.Tree.class), folder);

    String text = failure(Codec.of(Other.Tree.class)).getMessage();

    assertTrue(text.contains("can no longer be read: Tree.Tree."), text);
    assertTrue(text.contains(".size: "), text);
  }

  @Test
  void removedFieldMustBeDeclared() {
    failure(Codec.of(Deep.Tree.class));

    String text = failure(Codec.of(Fewer.Tree.class)).getMessage();
    assertTrue(text.contains("have [field 'size' of Leaf], which the types no longer have"), text);
    assertTrue(text.contains("evolution.ignoreRemoved(..)"), text);

    var named = Codec.of(Fewer.Tree.class, forms -> forms.ignoreRemoved(Fewer.Leaf.class, "size"));
    assertTrue(failure(named).getMessage().contains("the types have changed; old bytes can be read"));
    GoldenFiles.check(named, folder);
  }

  @Test
  void missingSamplesAreAddedOnce() throws IOException {
    var codec = Codec.of(Deep.Tree.class);
    failure(codec);
    try (var files = Files.list(folder)) {
      for (var file : files.filter(one -> !one.endsWith("schema.txt")).skip(1).toList()) Files.delete(file);
    }

    assertTrue(failure(codec).getMessage().contains("the types have some samples that were missing"));
    GoldenFiles.check(codec, folder);
  }

  // @start region="golden"
  @Test
  void oldEventsCanBeRead() {
    GoldenFiles.check(Codec.of(First.Event.class), Path.of("src/test/resources/golden/events"));
  }
  // @end
}
