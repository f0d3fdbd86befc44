package io.fibry.test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.codec.Codec;
import io.fibry.codec.DerivedCodec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GoldenTest {
  /**
   * The event types of the first version. The classes Second and Third have the types of later
   * versions.
   */
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

  private AssertionError checkFailure(DerivedCodec<?> codec) {
    return assertThrows(AssertionError.class, () -> GoldenFiles.check(codec, folder));
  }

  @Test
  void compatibleTypeChangeFailsFirstCheckAndWritesFiles() throws IOException {
    var first = Codec.of(First.Event.class);

    assertEquals("the types have no samples yet. Look at " + folder + ", and commit it: its schema.txt is new, and "
        + "[Closed-1-v1.cbor, Deposited-1-v1.cbor]", checkFailure(first).getMessage());
    GoldenFiles.check(first, folder);
    assertEquals(first.schema(), Files.readString(folder.resolve("schema.txt")));

    var second = Codec.of(Second.Event.class);
    assertEquals("the types have changed; old bytes can be read. Look at " + folder + ", and commit it: its "
        + "schema.txt is new, and [Deposited-1-v2.cbor]", checkFailure(second).getMessage());
    GoldenFiles.check(second, folder);
  }

  @Test
  void goldenCheckFailsWhenOldBytesAreUnreadable() {
    checkFailure(Codec.of(First.Event.class));

    String text = checkFailure(Codec.of(Third.Event.class)).getMessage();

    assertTrue(text.contains("Deposited-1-v1.cbor can no longer be read: Event.Deposited: field currency of Deposited"
        + " is missing"), text);
    assertTrue(text.contains("evolution.readOld(..)"), text);
    checkFailure(Codec.of(Third.Event.class)); // the second check fails, too
  }

  @Test
  void declaredOldFormMakesOldBytesReadable() {
    checkFailure(Codec.of(First.Event.class));
    var third = Codec.of(Third.Event.class, forms -> forms.readOld("Deposited", First.Deposited.class,
        old -> new Third.Deposited(old.cents(), "EUR")));

    checkFailure(third);
    GoldenFiles.check(third, folder);
  }

  /** Records nested four levels deep. The two classes below change the innermost record. */
  static final class Original {
    record Leaf(long size) {}
    record Twig(List<Leaf> leaves, Optional<Leaf> best) {}
    record Branch(Map<String, Twig> twigs) {}
    record Tree(List<Branch> branches, List<Tree> near, List<Tree> far) {}
  }

  static final class OtherFieldType {
    record Leaf(String size) {}
    record Twig(List<Leaf> leaves, Optional<Leaf> best) {}
    record Branch(Map<String, Twig> twigs) {}
    record Tree(List<Branch> branches, List<Tree> near, List<Tree> far) {}
  }

  static final class RemovedField {
    record Leaf() {}
    record Twig(List<Leaf> leaves, Optional<Leaf> best) {}
    record Branch(Map<String, Twig> twigs) {}
    record Tree(List<Branch> branches, List<Tree> near, List<Tree> far) {}
  }

  @Test
  void changedTypeOfNestedFieldFailsGoldenCheck() {
    checkFailure(Codec.of(Original.Tree.class));
    GoldenFiles.check(Codec.of(Original.Tree.class), folder);

    String text = checkFailure(Codec.of(OtherFieldType.Tree.class)).getMessage();

    assertTrue(text.contains("can no longer be read: Tree.Tree."), text);
    assertTrue(text.contains(".size: "), text);
  }

  @Test
  void removedFieldFailsCheckUntilItIsDeclared() {
    checkFailure(Codec.of(Original.Tree.class));

    String text = checkFailure(Codec.of(RemovedField.Tree.class)).getMessage();
    assertTrue(text.contains("have [field 'size' of Leaf], which the types no longer have"), text);
    assertTrue(text.contains("evolution.ignoreRemoved(..)"), text);

    var named = Codec.of(RemovedField.Tree.class, forms -> forms.ignoreRemoved(RemovedField.Leaf.class, "size"));
    assertTrue(checkFailure(named).getMessage().contains("the types have changed; old bytes can be read"));
    GoldenFiles.check(named, folder);
  }

  @Test
  void missingSampleFilesFailFirstCheckAndAreWritten() throws IOException {
    var codec = Codec.of(Original.Tree.class);
    checkFailure(codec);
    try (var files = Files.list(folder)) {
      for (var file : files.filter(path -> !path.endsWith("schema.txt")).skip(1).toList()) Files.delete(file);
    }

    assertTrue(checkFailure(codec).getMessage().contains("the types have some samples that were missing"));
    GoldenFiles.check(codec, folder);
  }

  // @start region="golden"
  @Test
  void eventFilesInRepositoryPassGoldenCheck() {
    GoldenFiles.check(Codec.of(First.Event.class), Path.of("src/test/resources/golden/events"));
  }
  // @end
}
