package io.fibry.io;

import io.fibry.block.Arguments;
import io.fibry.block.ChangedCopy;
import io.fibry.text.Durations;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * A program of the operating system. It runs without a shell, within limits on time and output, and
 * with the given environment only. Immutable and thread-safe.
 * {@snippet class="io.fibry.IoSnippetsTest" region="program"}
 *
 * <p>A pool of actors can limit how many programs run at the same time. A run holds two platform
 * threads until the program and its children have closed the output. These threads are not fibers,
 * because a fiber that reads a pipe would hold its carrier.
 */
public final class Program implements Cloneable {
  /** Waits for a process, and returns whether it ended within the limit. */
  @FunctionalInterface
  interface ProcessWait {
    boolean awaitEnd(Process process, Duration limit) throws InterruptedException;
  }

  // written by `with` only, in a new copy
  private final Path executable;
  private Map<String, String> environment = Map.of();
  private Optional<Path> directory = Optional.empty();
  private Duration limit = Duration.ofSeconds(30);
  private int maxOutput = 1_000_000;
  private ProcessWait processWait = (process, limit) -> process.waitFor(TimeUnit.NANOSECONDS.convert(limit),
      TimeUnit.NANOSECONDS);

  private Program(Path executable) {
    this.executable = executable;
  }

  /**
   * Makes a program.
   *
   * @param executable an absolute path; not a batch file of Windows, because a shell would run it
   * @return the program
   */
  public static Program of(Path executable) {
    if (!Objects.requireNonNull(executable, "executable").isAbsolute())
      throw new IllegalArgumentException("the program '" + executable + "' could be anywhere; give its absolute path");
    var name = executable.toString().toLowerCase(Locale.ROOT);
    if (name.endsWith(".bat") || name.endsWith(".cmd")) throw new IllegalArgumentException("the program '" + executable
        + "' is run by a shell, which interprets its arguments; give a program that needs none");
    return new Program(executable);
  }

  private Program with(Consumer<Program> change) {
    return ChangedCopy.of(this::clone, change);
  }

  /**
   * Adds a variable to the environment.
   *
   * @param name without {@code =}
   * @param value its value
   * @return a changed copy
   */
  public Program withEnvironment(String name, String value) {
    if (Objects.requireNonNull(name, "name").isEmpty() || name.indexOf('=') >= 0 || name.indexOf('\0') >= 0)
      throw new IllegalArgumentException("'" + name + "' cannot be the name of a variable; give one without '='");
    var newEnvironment = new TreeMap<>(environment);
    newEnvironment.put(name, Objects.requireNonNull(value, "value"));
    return with(copy -> copy.environment = Map.copyOf(newEnvironment));
  }

  /**
   * Sets the working directory.
   *
   * @param directory by default the working directory of this JVM
   * @return a changed copy
   */
  public Program withDirectory(Path directory) {
    Objects.requireNonNull(directory, "directory");
    return with(copy -> copy.directory = Optional.of(directory));
  }

  /**
   * Limits the time of a run. After the limit, the program and its children are asked to end.
   * Processes that have not ended two seconds later are killed.
   *
   * @param limit more than zero, by default 30 seconds
   * @return a changed copy
   */
  public Program withLimit(Duration limit) {
    Arguments.requirePositive(limit, "limit", "a limit of " + Durations.text(limit) + " leaves no time to run");
    return with(copy -> copy.limit = limit);
  }

  /**
   * Limits how many bytes of the standard output and of the standard error are stored. Further
   * bytes are discarded.
   *
   * @param maxBytes maximum for each of the two streams; zero or more, by default 1,000,000
   * @return a changed copy
   */
  public Program withMaxOutput(int maxBytes) {
    if (maxBytes < 0)
      throw new IllegalArgumentException("an output cannot be limited to " + maxBytes + " bytes; give zero or more");
    return with(copy -> copy.maxOutput = maxBytes);
  }

  /** Replaces the wait for the process, so that a test decides when the limit is over. */
  Program withWait(ProcessWait processWait) {
    return with(copy -> copy.processWait = processWait);
  }

  /**
   * Runs the program without input, and waits for its end. An interrupt of this thread kills the
   * program and its children.
   *
   * @param arguments passed to the program unchanged
   * @return the result, however the program ended
   * @throws IOException if the program could not be started
   * @throws CancellationException if this thread is interrupted; its interrupt flag stays set
   */
  public Result run(String... arguments) throws IOException {
    return run(new byte[0], Arrays.asList(Objects.requireNonNull(arguments, "arguments")));
  }

  /**
   * Runs the program with input.
   *
   * @param input the standard input of the program
   * @param arguments passed to the program unchanged
   * @return the result, however the program ended
   * @throws IOException if the program could not be started
   * @throws CancellationException if this thread is interrupted; its interrupt flag stays set
   */
  public Result run(byte[] input, List<String> arguments) throws IOException {
    Objects.requireNonNull(input, "input");
    var command = new ArrayList<String>(List.of(executable.toString()));
    for (var argument : Objects.requireNonNull(arguments, "arguments"))
      command.add(Objects.requireNonNull(argument, "an argument"));
    var builder = new ProcessBuilder(command).directory(directory.map(Path::toFile).orElse(null));
    builder.environment().clear();
    builder.environment().putAll(environment);
    if (Thread.currentThread().isInterrupted())
      throw new CancellationException(this + " was not run: its thread was interrupted");
    var process = builder.start();
    try {
      var out = ProgramOutput.of(process.getInputStream(), maxOutput);
      var err = ProgramOutput.of(process.getErrorStream(), maxOutput);
      ProgramOutput.feed(process.getOutputStream(), input);
      boolean isTimedOut = !processWait.awaitEnd(process, limit);
      if (isTimedOut) end(process);
      boolean isComplete = ExitGrace.await(step -> out.await(step) && err.await(step));
      return new Result(process.exitValue(), out.bytes(), err.bytes(),
          !isComplete || out.isTruncated() || err.isTruncated(), isTimedOut);
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw new CancellationException(this + " was killed: the thread that waited for it was interrupted");
    } finally {
      if (process.isAlive()) family(process).forEach(ProcessHandle::destroyForcibly);
    }
  }

  private static void end(Process process) throws InterruptedException {
    var processes = family(process);
    processes.forEach(ProcessHandle::destroy);
    var allEnded = CompletableFuture
        .allOf(processes.stream().map(ProcessHandle::onExit).toArray(CompletableFuture[]::new));
    var endLatch = new CountDownLatch(1);
    allEnded.whenComplete((unused, failure) -> endLatch.countDown());
    try {
      ExitGrace.await(step -> endLatch.await(step, TimeUnit.MILLISECONDS));
    } finally { // processes that have not ended are killed now
      for (var handle : processes) {
        handle.descendants().forEach(ProcessHandle::destroyForcibly); // children started since `family` was called
        handle.destroyForcibly();
      }
    }
    process.waitFor();
  }

  /**
   * Returns the process and its descendants. After the end of the process its descendants are
   * unknown.
   */
  private static List<ProcessHandle> family(Process process) {
    return Stream.concat(process.descendants(), Stream.of(process.toHandle())).toList();
  }

  @Override
  public String toString() {
    return "program " + executable;
  }

  /**
   * The result of a run. Its arrays are compared by identity, and not copied.
   *
   * @param exitCode the exit code; after a kill, the code that the operating system reports
   * @param stdout the standard output
   * @param stderr the standard error
   * @param isTruncated whether output may be missing, because there was more than the maximum, or
   * because a child kept the output open for more than two seconds
   * @param isTimedOut whether the limit ended the run
   */
  public record Result(int exitCode, byte[] stdout, byte[] stderr, boolean isTruncated, boolean isTimedOut) {

    /**
     * Decodes the output as UTF-8.
     *
     * @return the text
     */
    public String text() {
      return new String(stdout, StandardCharsets.UTF_8);
    }
  }
}
