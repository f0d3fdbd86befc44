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
import io.fibry.Handler;
import io.fibry.engine.scope.Scopes;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import io.fibry.testing.Descriptors;
import io.fibry.testing.Gate;
import io.fibry.testing.LeakProbe;
import io.fibry.testing.RecordedLetters;
import io.fibry.testing.Variants;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that changes in a directory are reported, and that watches end. */
class WatchDirectoryTest {
  @TempDir
  Path folder;

  private final RecordedLetters letters = new RecordedLetters();
  private final ActorScope scope = ActorSystem.openScope("watches",
      o -> o.withDeadLetterListener(letters).withKillGrace(Duration.ofHours(1)).withDrainLimit(Duration.ofHours(1)));
  private final Set<Path> reportedPaths = new ConcurrentSkipListSet<>();

  static List<String> strategies() {
    return List.copyOf(Variants.STRATEGIES.keySet());
  }

  @AfterEach
  void close() {
    Gate.openAll();
    scope.closeWithin(Patience.LONG);
  }

  private Exitable watch(Path directory) {
    return Stereotypes.of(scope.anonymous()).watchDirectory(directory, reportedPaths::add);
  }

  private void awaitReport(Path path) {
    Patience.eventually(() -> reportedPaths.remove(path));
  }

  // ---- reports

  @ParameterizedTest
  @MethodSource("strategies")
  void createdChangedAndDeletedFilesAreReported(String strategy) throws Exception {
    var watch = Stereotypes.of(scope.anonymous().strategy(Variants.STRATEGIES.get(strategy))).watchDirectory(folder,
        reportedPaths::add);
    var file = folder.resolve("file");

    Files.createFile(file);
    awaitReport(file);
    Files.writeString(file, "text");
    awaitReport(file);
    Files.delete(file);
    awaitReport(file);

    watch.close();
    assertEquals(new ExitReason.Finished(), watch.onExit().resultNow());
  }

  @Test
  void reportedPathIsAbsoluteWhenDirectoryIsRelative() throws Exception {
    var directory = Files.createTempDirectory(Path.of("target"), "watched");
    watch(directory);

    Files.createFile(directory.resolve("file"));

    awaitReport(directory.resolve("file").toAbsolutePath());
  }

  @Test
  void changesInSubdirectoriesAreNotReported() throws Exception {
    var subdirectory = Files.createDirectory(folder.resolve("below"));
    watch(folder);

    Files.createFile(subdirectory.resolve("hidden"));
    Files.createFile(folder.resolve("last"));
    awaitReport(folder.resolve("last"));

    assertFalse(reportedPaths.contains(subdirectory.resolve("hidden")));
  }

  @Test
  void allChangesAreReportedAfterOverflowOfSystemEvents() throws Exception {
    var gate = new Gate();
    Stereotypes.of(scope.anonymous().mailbox(Mailbox.bounded(1, Overflow.BLOCK))).watchDirectory(folder, path -> {
      gate.pass();
      reportedPaths.add(path);
    });
    for (int i = 0; i < 3_000; i++) Files.createFile(folder.resolve("file" + i));
    Patience.await(gate.entered);

    gate.open();
    var files = IntStream.range(0, 3_000).mapToObj(i -> folder.resolve("file" + i)).toList();
    Patience.eventually(() -> reportedPaths.containsAll(files) && reportedPaths.contains(folder));

    Files.createFile(folder.resolve("later"));
    awaitReport(folder.resolve("later"));
  }

  // ---- failures

  @Test
  void handlerFailureGoesToPolicyAndNextChangeIsReported() throws Exception {
    Stereotypes.of(scope.anonymous().onFailure(FailurePolicy.resume().withoutLog())).watchDirectory(folder, path -> {
      reportedPaths.add(path);
      if (path.endsWith("bad")) throw new IOException("bad");
    });

    Files.createFile(folder.resolve("bad"));
    awaitReport(folder.resolve("bad"));
    Files.createFile(folder.resolve("good"));
    awaitReport(folder.resolve("good"));

    assertEquals(folder.resolve("bad"), letters.all.getFirst().message());
  }

  // ---- ends

  @Test
  void watchEndsWhenItsDirectoryIsDeleted() throws Exception {
    var directory = Files.createDirectory(folder.resolve("short-lived"));
    Files.createFile(directory.resolve("file"));
    var watch = watch(directory);

    Files.delete(directory.resolve("file"));
    Files.delete(directory);
    Patience.awaitEnd(watch::waitForExit);

    assertEquals(new ExitReason.Finished(), watch.onExit().resultNow());
    awaitReport(directory.resolve("file"));
    Scopes.awaitNoActors(scope);
  }

  @ParameterizedTest
  @ValueSource(strings = {"close", "askExit", "kill", "scope"})
  void endOfWatchEndsAllItsActors(String operation) {
    var watch = watch(folder);

    switch (operation) {
      case "close" -> watch.close();
      case "askExit" -> watch.askExit();
      case "kill" -> watch.kill();
      default -> scope.close();
    }
    Patience.awaitEnd(watch::waitForExit);

    // the watch must end long before the kill grace and the drain limit of one hour are over
    Scopes.awaitNoActors(scope);
  }

  @ParameterizedTest
  @ValueSource(strings = {"askExit", "kill", "scope"})
  void watchBlockedByFullMailboxEndsWhenStopped(String operation) throws Exception {
    var gate = new Gate();
    var watch = Stereotypes
        .of(scope.anonymous().mailbox(Mailbox.bounded(1, Overflow.BLOCK))
            .onFailure(FailurePolicy.resume().withoutLog()))
        .watchDirectory(folder, path -> gate.pass());
    for (int i = 0; i < 10; i++) Files.createFile(folder.resolve("file" + i));
    Patience.await(gate.entered);

    if (operation.equals("scope")) scope.closeWithin(Duration.ofMillis(50));
    else if (operation.equals("kill")) watch.kill();
    else {
      watch.askExit();
      gate.open();
    }
    Patience.awaitEnd(watch::waitForExit);

    Scopes.awaitNoActors(scope);
  }

  @Test
  void watchMayEndItselfOnAnyStrategy() throws Exception {
    for (var strategy : Variants.STRATEGIES.values()) {
      var self = new AtomicReference<Exitable>();
      var directory = Files.createTempDirectory(folder, "own");
      self.set(
          Stereotypes.of(scope.anonymous().strategy(strategy)).watchDirectory(directory, path -> self.get().close()));

      Files.createFile(directory.resolve("file"));

      Patience.awaitEnd(self.get()::waitForExit);
    }
  }

  /** Returns the threads of all watches of this JVM; other tests may have watches, too. */
  private static Set<Thread> pollers() {
    return Thread.getAllStackTraces().entrySet().stream()
        .filter(thread -> Stream.of(thread.getValue())
            .anyMatch(frame -> frame.getClassName().endsWith("LinuxWatchService$Poller")))
        .map(Map.Entry::getKey).collect(Collectors.toSet());
  }

  @Test
  void endedWatchesLeaveNoThreadsOrDescriptors() throws Exception {
    var pollersBefore = pollers();
    for (int i = 0; i < 3; i++) watch(folder).close();
    long descriptors = Descriptors.countOpen();

    for (int i = 0; i < 50; i++) watch(folder).close();

    Patience.eventually(() -> pollersBefore.containsAll(pollers()));
    assertTrue(Descriptors.countOpen() <= descriptors + 5,
        () -> descriptors + " descriptors grew to " + Descriptors.countOpen());
  }

  @Test
  void endedWatchIsGarbage() {
    var watch = new AtomicReference<>(Stereotypes.fibers().watchDirectory(folder, reportedPaths::add));
    watch.get().close();
    var reference = new WeakReference<Object>(watch.getAndSet(null));

    assertTrue(LeakProbe.collected(reference));
  }

  // ---- the builder, and invalid arguments

  @Test
  void actorsOfWatchAreNamedAfterBuilder() {
    var watch = Stereotypes.of(scope.named("inbox")).watchDirectory(folder, reportedPaths::add);

    assertEquals("inbox", watch.name());
    assertTrue(scope.dump().contains("inbox/watch"), scope::dump);
  }

  @Test
  void interceptorSeesReportedPathsButNoInternalMessages() throws Exception {
    var interceptedPaths = new ConcurrentSkipListSet<Path>();
    Stereotypes.of(scope.anonymous().intercept((Path path, Handler.Task next) -> {
      interceptedPaths.add(path);
      next.run();
    })).watchDirectory(folder, reportedPaths::add);

    Files.createFile(folder.resolve("file"));
    awaitReport(folder.resolve("file"));

    assertEquals(Set.of(folder.resolve("file")), interceptedPaths);
  }

  @Test
  void pathThatIsNoDirectoryIsRefused() throws Exception {
    var recipes = Stereotypes.of(scope.anonymous());
    var file = Files.createFile(folder.resolve("file"));
    var missingDirectory = folder.resolve("missing");

    var failure = assertThrows(IllegalArgumentException.class, () -> recipes.watchDirectory(file, reportedPaths::add));
    assertThrows(IllegalArgumentException.class, () -> recipes.watchDirectory(missingDirectory, reportedPaths::add));

    assertEquals(file + " is not a directory; give an existing one",
        failure.getMessage());
    assertEquals(1, scope.dump().lines().count());
  }

  @Test
  void usedNameIsRefusedAndLeavesNoWatch() {
    scope.named("inbox").newActor((String message) -> {});

    assertThrows(IllegalArgumentException.class,
        () -> Stereotypes.of(scope.named("inbox")).watchDirectory(folder, reportedPaths::add));

    Patience.eventually(() -> !scope.dump().contains("inbox/watch"));
  }

  @Test
  void exceptionNamesNullArgument() {
    var recipes = Stereotypes.of(scope.anonymous());

    assertEquals("directory",
        assertThrows(NullPointerException.class, () -> recipes.watchDirectory(null, reportedPaths::add)).getMessage());
    assertEquals("handler",
        assertThrows(NullPointerException.class, () -> recipes.watchDirectory(folder, null)).getMessage());
  }
}
