package io.fibry.io;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorSystem;
import io.fibry.pool.Pools;
import io.fibry.support.Patience;
import io.fibry.testing.Descriptors;
import io.fibry.testing.Promise;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** Tests {@link Program} with shell scripts as programs. */
class ProgramTest {
  private static final Path SHELL = Path.of("/bin/sh");

  private final Program shell = Program.of(SHELL).withEnvironment("PATH", "/usr/bin:/bin");

  @TempDir
  Path folder;

  @BeforeAll
  static void skipWithoutShell() {
    Assumptions.assumeTrue(Files.isExecutable(SHELL), "this system has no /bin/sh");
  }

  // ---- results, arguments and input

  @Test
  void resultHasOutputAndExitCode() throws Exception {
    var result = shell.run("-c", "echo out; echo err >&2; exit 3");

    assertEquals("out\n", result.text());
    assertArrayEquals("err\n".getBytes(), result.stderr());
    assertEquals(3, result.exitCode());
    assertFalse(result.isTruncated() || result.isTimedOut());
  }

  @Promise("26.7")
  @Test
  void programGetsArgumentsUnchanged() throws Exception {
    var result = shell.run("-c", "printf '%s\n' \"$@\"", "name", "two words", "$HOME; rm -rf *", "\"quoted\"", "");

    assertEquals("two words\n$HOME; rm -rf *\n\"quoted\"\n\n", result.text());
  }

  @Promise("26.7")
  @Test
  void programHasOnlyGivenEnvironment() throws Exception {
    var result =
        Program.of(Path.of("/usr/bin/env")).withEnvironment("COLOR", "blue").withEnvironment("SIZE", "9").run();

    assertEquals(List.of("COLOR=blue", "SIZE=9"), result.text().lines().sorted().toList());
  }

  @Test
  void programWithoutInputReadsNothing() throws Exception {
    assertEquals("", shell.run("-c", "cat").text());
  }

  @Test
  void programReadsGivenInput() throws Exception {
    var input = "x".repeat(300_000); // more than fits into a pipe

    assertEquals(input, shell.run(input.getBytes(), List.of("-c", "cat")).text());
  }

  @Test
  void unreadInputDoesNotDelayResult() throws Exception {
    assertEquals("done\n", shell.run(new byte[300_000], List.of("-c", "echo done")).text());
  }

  @Test
  void programRunsInGivenDirectory() throws Exception {
    assertEquals(folder.toRealPath() + "\n", shell.withDirectory(folder.toRealPath()).run("-c", "pwd").text());
  }

  @Test
  void poolRunsPrograms() {
    try (var pool =
        Pools.fixed(ActorSystem.anonymous(), 2).newActorWithReturn((String text) -> shell.run("-c", text).text())) {
      assertEquals("1\n", pool.ask("echo 1"));
    }
  }

  // ---- limits

  @Test
  void outputBeyondLimitIsDiscarded() throws Exception {
    var result = shell.withMaxOutput(10).run("-c", "yes | head -c 1000000; echo short >&2");

    assertEquals("y\ny\ny\ny\ny\n", result.text());
    assertEquals("short\n", new String(result.stderr()));
    assertTrue(result.isTruncated());
    assertEquals(0, result.exitCode());
  }

  @Test
  void outputOfMaxLengthIsNotTruncated() throws Exception {
    var result = shell.withMaxOutput(4).run("-c", "printf 1234");

    assertEquals("1234", result.text());
    assertFalse(result.isTruncated());
  }

  @Test
  void timedOutProgramIsTerminatedAndKeepsItsOutput() throws Exception {
    var ready = folder.resolve("ready");

    var result = shell.withWait(expiringOnceExists(ready)).run("-c",
        "trap 'echo bye; exit 7' TERM; echo begun; touch " + ready + "; while true; do sleep 0.01; done");

    assertEquals("begun\nbye\n", result.text());
    assertEquals(7, result.exitCode());
    assertTrue(result.isTimedOut());
  }

  /** Returns a wait whose limit expires as soon as the program has created the file. */
  private static Program.ProcessWait expiringOnceExists(Path file) {
    return (process, limit) -> {
      Patience.eventually(() -> Files.exists(file));
      return false;
    };
  }

  @Test
  void timeOfSuspendedMachineDoesNotCountTowardExitGrace() throws Exception {
    var steps = new AtomicInteger();

    assertTrue(ExitGrace.await(millis -> {
      if (steps.incrementAndGet() == 1) LockSupport.parkNanos(2_100_000_000L); // as if the machine were suspended
      return steps.get() == ExitGrace.STEPS;
    }));

    assertFalse(ExitGrace.await(millis -> false));
  }

  @Test
  void outputOfEndedProgramIsCompleteIfReaderIsLate() throws Exception {
    var mayRead = new CountDownLatch(1);
    var in = new ByteArrayInputStream("late".getBytes()) {
      @Override
      public int read(byte[] buffer, int offset, int length) {
        Patience.await(mayRead);
        return super.read(buffer, offset, length);
      }
    };
    var output = ProgramOutput.of(in, 100);
    var steps = new AtomicInteger();

    assertTrue(ExitGrace.await(millis -> {
      if (steps.incrementAndGet() == ExitGrace.STEPS) mayRead.countDown();
      return output.await(steps.get() < ExitGrace.STEPS ? 0 : Patience.LONG.toMillis());
    }));

    assertEquals("late", new String(output.bytes()));
  }

  @Test
  void programThatIgnoresTerminationIsKilled() throws Exception {
    var result = shell.withLimit(Duration.ofMillis(100)).run("-c", "trap '' TERM; while true; do sleep 0.01; done");

    assertTrue(result.isTimedOut());
    assertTrue(result.exitCode() != 0, "the exit code of a killed program is 0");
  }

  @Promise("26.7")
  @Test
  void childrenEndWithTheirProgram() throws Exception {
    var pidFile = folder.resolve("child");

    shell.withWait(expiringOnceExists(pidFile)).run("-c",
        "sleep 600 & echo $! > " + pidFile + ".new; mv " + pidFile + ".new " + pidFile + "; wait");

    var childPid = readPid(pidFile);
    Patience.eventually(() -> !isRunning(childPid));
  }

  @Promise("26.7")
  @Test
  void childGetsTimeToCleanUpAfterItsProgramHasEnded() throws Exception {
    var cleanedUp = folder.resolve("tidy");
    var readyFile = folder.resolve("child");

    shell.withWait(expiringOnceExists(readyFile)).run("-c", "(trap 'sleep 0.3; touch " + cleanedUp
        + "; exit 0' TERM; touch " + readyFile
        + "; while true; do sleep 0.01; done) & trap 'exit 0' TERM; while true; do sleep 0.01; done");

    assertTrue(Files.exists(cleanedUp), "the child was killed during its cleanup");
  }

  @Test
  void childThatOutlivesProgramDoesNotDelayResult() throws Exception {
    var pidFile = folder.resolve("child");

    var result = shell.run("-c", "sleep 600 & echo $! > " + pidFile + "; echo done; sleep 0.1");

    assertEquals("done\n", result.text());
    assertEquals(0, result.exitCode());
    ProcessHandle.of(readPid(pidFile)).ifPresent(ProcessHandle::destroyForcibly);
    Patience.eventually(() -> programThreads().isEmpty());
  }

  @Promise("26.7")
  @Test
  void interruptKillsProgramAndItsChildren() throws Exception {
    var pidFile = folder.resolve("child");
    var exception = new AtomicReference<Throwable>();
    var caller = Patience.startFiber(() -> {
      exception.set(assertThrows(CancellationException.class,
          () -> shell.run("-c",
              "sleep 600 & echo $! > " + pidFile + ".new; mv " + pidFile + ".new " + pidFile + "; wait")));
      if (!Thread.currentThread().isInterrupted()) exception.set(new AssertionError("the interrupt flag is not set"));
    });
    Patience.eventually(() -> Files.exists(pidFile));

    caller.interrupt();
    Patience.awaitEnd(caller);

    assertEquals("program /bin/sh was killed: the thread that waited for it was interrupted",
        exception.get().getMessage());
    var childPid = readPid(pidFile);
    Patience.eventually(() -> !isRunning(childPid));
  }

  @Test
  void interruptedCallerStartsNoProgram() throws Exception {
    var createdFile = folder.resolve("made");
    Thread.currentThread().interrupt();
    try {
      assertThrows(CancellationException.class, () -> shell.run("-c", "echo > " + createdFile));
    } finally {
      assertTrue(Thread.interrupted());
    }

    assertFalse(Files.exists(createdFile));
  }

  private static long readPid(Path pidFile) throws IOException {
    return Long.parseLong(Files.readString(pidFile).strip());
  }

  /** Returns whether the process exists and is not a zombie. */
  private static boolean isRunning(long pid) {
    try {
      return ProcessHandle.of(pid).filter(ProcessHandle::isAlive).isPresent()
          && !Files.readString(Path.of("/proc/" + pid + "/stat")).contains(") Z ");
    } catch (IOException processEnded) {
      return false;
    }
  }

  private static List<Thread> programThreads() {
    return Thread.getAllStackTraces().keySet().stream().filter(thread -> thread.getName().startsWith("program-"))
        .toList();
  }

  @Test
  void manyRunsLeaveNoThreadsOrDescriptors() throws Exception {
    shell.run("-c", "echo");
    long descriptorsBefore = Descriptors.countOpen();

    var runs = new ArrayList<Thread>();
    for (int i = 0; i < 20; i++) runs.add(Patience.startFiber(() -> {
      try {
        shell.run(new byte[100_000], List.of("-c", "echo; echo >&2"));
      } catch (IOException failure) {
        throw new UncheckedIOException(failure);
      }
    }));
    runs.forEach(Patience::awaitEnd);

    Patience.eventually(() -> programThreads().isEmpty());
    Patience.eventually(() -> Descriptors.countOpen() <= descriptorsBefore);
  }

  // ---- invalid arguments

  @Test
  void invalidProgramOrOptionIsRefused() {
    assertRefused("the program 'sh' could be anywhere; give its absolute path", () -> Program.of(Path.of("sh")));
    assertRefused(
        "the program '/a.BAT' is run by a shell, which interprets its arguments; give a program that needs none",
        () -> Program.of(Path.of("/a.BAT")));
    assertRefused("a limit of 0 s leaves no time to run; give more than zero", () -> shell.withLimit(Duration.ZERO));
    assertRefused("an output cannot be limited to -1 bytes; give zero or more", () -> shell.withMaxOutput(-1));
    assertRefused("'A=B' cannot be the name of a variable; give one without '='",
        () -> shell.withEnvironment("A=B", "c"));
    assertThrows(IOException.class, () -> Program.of(Path.of("/there/is/none")).run());
    assertThrows(IOException.class, () -> shell.run("-c", "echo \0"));
    assertEquals("input", assertThrows(NullPointerException.class, () -> shell.run(null, List.of())).getMessage());
  }

  private static void assertRefused(String text, Executable code) {
    assertEquals(text, assertThrows(IllegalArgumentException.class, code).getMessage());
  }
}
