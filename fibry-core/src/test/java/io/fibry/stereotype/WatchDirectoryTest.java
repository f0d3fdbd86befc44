package io.fibry.stereotype;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.ExitReason;
import io.fibry.Exitable;
import io.fibry.FailurePolicy;
import io.fibry.Gate;
import io.fibry.Handler;
import io.fibry.LeakProbe;
import io.fibry.Letters;
import io.fibry.Variants;
import io.fibry.io.Descriptors;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The changes of a directory. */
class WatchDirectoryTest {
  @TempDir
  Path temporary;

  private final Letters letters = new Letters();
  private final ActorScope scope = ActorSystem.openScope("watches",
      o -> o.withDeadLetters(letters).withKillGrace(Duration.ofHours(1)).withDrainLimit(Duration.ofHours(1)));
  private final Set<Path> told = new ConcurrentSkipListSet<>();

  static List<String> strategies() {
    return List.copyOf(Variants.STRATEGIES.keySet());
  }

  @AfterEach
  void close() {
    Gate.openAll();
    scope.closeWithin(Patience.LONG);
  }

  private Exitable watch(Path directory) {
    return Stereotypes.of(scope.anonymous()).watchDirectory(directory, told::add);
  }

  private void told(Path path) {
    Patience.eventually(() -> told.remove(path));
  }

  // ---- what is told

  @ParameterizedTest
  @MethodSource("strategies")
  void createdChangedAndDeletedFilesAreReported(String strategy) throws Exception {
    var watch = Stereotypes.of(scope.anonymous().strategy(Variants.STRATEGIES.get(strategy))).watchDirectory(temporary,
        told::add);
    var file = temporary.resolve("file");

    Files.createFile(file);
    told(file);
    Files.writeString(file, "text");
    told(file);
    Files.delete(file);
    told(file);

    watch.close();
    assertEquals(new ExitReason.Finished(), watch.onExit().resultNow());
  }

  @Test
  void pathsAreAbsolute() throws Exception {
    var here = Files.createTempDirectory(Path.of("target"), "watched");
    watch(here);

    Files.createFile(here.resolve("file"));

    told(here.resolve("file").toAbsolutePath());
  }

  @Test
  void changesInSubdirectoriesAreNotReported() throws Exception {
    var below = Files.createDirectory(temporary.resolve("below"));
    watch(temporary);

    Files.createFile(below.resolve("hidden"));
    Files.createFile(temporary.resolve("last"));
    told(temporary.resolve("last"));

    assertFalse(told.contains(below.resolve("hidden")));
  }

  /** The earlier library died of it. */
  @Test
  void allChangesAreReportedAfterSystemOverflow() throws Exception {
    var gate = new Gate();
    Stereotypes.of(scope.anonymous().mailbox(Mailbox.bounded(1, Overflow.BLOCK))).watchDirectory(temporary, path -> {
      gate.pass();
      told.add(path);
    });
    for (int i = 0; i < 3_000; i++) Files.createFile(temporary.resolve("file" + i));
    Patience.await(gate.entered);

    gate.open();
    var files = IntStream.range(0, 3_000).mapToObj(i -> temporary.resolve("file" + i)).toList();
    Patience.eventually(() -> told.containsAll(files) && told.contains(temporary));

    Files.createFile(temporary.resolve("later"));
    told(temporary.resolve("later"));
  }

  // ---- failing

  @Test
  void aHandlerThatFailsIsForThePolicyAndTheNextChangeIsTold() throws Exception {
    Stereotypes.of(scope.anonymous().onFailure(FailurePolicy.resume().withoutLog())).watchDirectory(temporary, path -> {
      told.add(path);
      if (path.endsWith("bad")) throw new IOException("bad");
    });

    Files.createFile(temporary.resolve("bad"));
    told(temporary.resolve("bad"));
    Files.createFile(temporary.resolve("good"));
    told(temporary.resolve("good"));

    assertEquals(temporary.resolve("bad"), letters.all.getFirst().message());
  }

  // ---- ending

  @Test
  void watchEndsWithItsDirectory() throws Exception {
    var directory = Files.createDirectory(temporary.resolve("short-lived"));
    Files.createFile(directory.resolve("file"));
    var watch = watch(directory);

    Files.delete(directory.resolve("file"));
    Files.delete(directory);
    Patience.ended(watch::waitForExit);

    assertEquals(new ExitReason.Finished(), watch.onExit().resultNow());
    told(directory.resolve("file"));
    Patience.eventually(() -> scope.dump().lines().count() == 1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"close", "askExit", "kill", "scope"})
  void endOfWatchEndsAllItsActors(String how) {
    var watch = watch(temporary);

    switch (how) {
      case "close" -> watch.close();
      case "askExit" -> watch.askExit();
      case "kill" -> watch.kill();
      default -> scope.close();
    }
    Patience.ended(watch::waitForExit);

    Patience.eventually(() -> scope.dump().lines().count() == 1); // by no limit or grace: they are an hour
  }

  @ParameterizedTest
  @ValueSource(strings = {"askExit", "kill", "scope"})
  void watchBlockedByFullMailboxEnds(String how) throws Exception {
    var gate = new Gate();
    var watch = Stereotypes
        .of(scope.anonymous().mailbox(Mailbox.bounded(1, Overflow.BLOCK))
            .onFailure(FailurePolicy.resume().withoutLog()))
        .watchDirectory(temporary, path -> gate.pass());
    for (int i = 0; i < 10; i++) Files.createFile(temporary.resolve("file" + i));
    Patience.await(gate.entered);

    if (how.equals("scope")) scope.closeWithin(Duration.ofMillis(50));
    else if (how.equals("kill")) watch.kill();
    else {
      watch.askExit();
      gate.open();
    }
    Patience.ended(watch::waitForExit);

    Patience.eventually(() -> scope.dump().lines().count() == 1);
  }

  @Test
  void watchMayEndItselfOnAnyStrategy() throws Exception {
    for (var strategy : Variants.STRATEGIES.values()) {
      var self = new AtomicReference<Exitable>();
      var directory = Files.createTempDirectory(temporary, "own");
      self.set(
          Stereotypes.of(scope.anonymous().strategy(strategy)).watchDirectory(directory, path -> self.get().close()));

      Files.createFile(directory.resolve("file"));

      Patience.ended(self.get()::waitForExit);
    }
  }

  @Test
  void neitherThreadsNorDescriptorsAreLeft() throws Exception {
    for (int i = 0; i < 3; i++) watch(temporary).close();
    long descriptors = Descriptors.open();

    for (int i = 0; i < 50; i++) watch(temporary).close();

    Patience.eventually(() -> Thread.getAllStackTraces().values().stream().flatMap(Stream::of)
        .noneMatch(frame -> frame.getClassName().endsWith("LinuxWatchService$Poller")));
    assertTrue(Descriptors.open() <= descriptors + 5, () -> descriptors + " descriptors grew to " + Descriptors.open());
  }

  @Test
  void endedWatchIsGarbage() {
    var watch = new AtomicReference<>(Stereotypes.fibers().watchDirectory(temporary, told::add));
    watch.get().close();
    var reference = new WeakReference<Object>(watch.getAndSet(null));

    assertTrue(LeakProbe.collected(reference));
  }

  // ---- the builder, and bad input

  @Test
  void watchAndItsWaiterAreNamedAfterBuilder() {
    var watch = Stereotypes.of(scope.named("inbox")).watchDirectory(temporary, told::add);

    assertEquals("inbox", watch.name());
    assertTrue(scope.dump().contains("inbox/watch"), scope::dump);
  }

  @Test
  void codeAroundMessagesSeesEachChangeAndNothingElse() throws Exception {
    var seen = new ConcurrentSkipListSet<Path>();
    Stereotypes.of(scope.anonymous().intercept((Path path, Handler.Task next) -> {
      seen.add(path);
      next.run();
    })).watchDirectory(temporary, told::add);

    Files.createFile(temporary.resolve("file"));
    told(temporary.resolve("file"));

    assertEquals(Set.of(temporary.resolve("file")), seen);
  }

  @Test
  void pathThatIsNoDirectoryIsRefused() throws Exception {
    var recipes = Stereotypes.of(scope.anonymous());
    var file = Files.createFile(temporary.resolve("file"));
    var missing = temporary.resolve("missing");

    var refused = assertThrows(IllegalArgumentException.class, () -> recipes.watchDirectory(file, told::add));
    assertThrows(IllegalArgumentException.class, () -> recipes.watchDirectory(missing, told::add));

    assertEquals(file + " is not a directory; give an existing one",
        refused.getMessage());
    assertEquals(1, scope.dump().lines().count());
  }

  @Test
  void aNameThatIsTakenIsRefusedAndNothingIsLeft() {
    scope.named("inbox").newActor((String message) -> {});

    assertThrows(IllegalArgumentException.class,
        () -> Stereotypes.of(scope.named("inbox")).watchDirectory(temporary, told::add));

    Patience.eventually(() -> !scope.dump().contains("inbox/watch"));
  }

  @Test
  void nullIsRefusedByItsName() {
    var recipes = Stereotypes.of(scope.anonymous());

    assertEquals("directory",
        assertThrows(NullPointerException.class, () -> recipes.watchDirectory(null, told::add)).getMessage());
    assertEquals("changed",
        assertThrows(NullPointerException.class, () -> recipes.watchDirectory(temporary, null)).getMessage());
  }
}
