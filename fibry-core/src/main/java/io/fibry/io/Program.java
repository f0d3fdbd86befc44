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
 * A program of this system, run within limits on time and output, without a shell, with the given
 * environment only. Immutable and thread-safe.
 * {@snippet class="io.fibry.IoSnippetsTest" region="program"}
 *
 * <p>A pool limits how many run at the same time. A run holds two platform threads (a fiber that
 * reads a pipe would hold a carrier), until no child keeps the output open.
 */
public final class Program implements Cloneable {
  /** Returns whether the process ended within the limit. */
  @FunctionalInterface
  interface ProcessWait {
    boolean until(Process end, Duration limit) throws InterruptedException;
  }

  // written by `with` only
  private final Path executable;
  private Map<String, String> environment = Map.of();
  private Optional<Path> directory = Optional.empty();
  private Duration limit = Duration.ofSeconds(30);
  private int maxOutput = 1_000_000;
  private ProcessWait wait = (process, limit) -> process.waitFor(TimeUnit.NANOSECONDS.convert(limit),
      TimeUnit.NANOSECONDS);

  private Program(Path executable) {
    this.executable = executable;
  }

  /**
   * A program.
   *
   * @param executable an absolute path; no batch file of Windows, which a shell would run
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
    var more = new TreeMap<>(environment);
    more.put(name, Objects.requireNonNull(value, "value"));
    return with(copy -> copy.environment = Map.copyOf(more));
  }

  /**
   * Sets the working directory.
   *
   * @param directory by default that of this JVM
   * @return a changed copy
   */
  public Program withDirectory(Path directory) {
    Objects.requireNonNull(directory, "directory");
    return with(copy -> copy.directory = Optional.of(directory));
  }

  /**
   * Limits the time. After the limit, the program and its children are told to end, and are killed
   * two seconds later.
   *
   * @param limit more than zero, by default 30 seconds
   * @return a changed copy
   */
  public Program withLimit(Duration limit) {
    Arguments.requirePositive(limit, "limit", "a limit of " + Durations.text(limit) + " leaves no time to run");
    return with(copy -> copy.limit = limit);
  }

  /**
   * Limits what is kept of output and errors; the rest is discarded.
   *
   * @param bytes zero or more, by default 1,000,000 each
   * @return a changed copy
   */
  public Program withMaxOutput(int bytes) {
    if (bytes < 0) throw new IllegalArgumentException("an output of at most " + bytes + " bytes; give zero or more");
    return with(copy -> copy.maxOutput = bytes);
  }

  /** For tests: says when the limit is over. */
  Program withWait(ProcessWait wait) {
    return with(copy -> copy.wait = wait);
  }

  /**
   * Runs the program without input, and waits for its end. An interrupt kills it and its children.
   *
   * @param arguments passed as they are
   * @return the result, however it ended
   * @throws IOException if it could not be started
   * @throws CancellationException if this thread is interrupted; its flag stays set
   */
  public Result run(String... arguments) throws IOException {
    return run(new byte[0], Arrays.asList(Objects.requireNonNull(arguments, "arguments")));
  }

  /**
   * Runs the program with input.
   *
   * @param input the standard input of the program
   * @param arguments passed as they are
   * @return the result, however it ended
   * @throws IOException if it could not be started
   * @throws CancellationException if this thread is interrupted; its flag stays set
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
      boolean late = !wait.until(process, limit);
      if (late) end(process);
      boolean whole = ExitGrace.await(step -> out.await(step) && err.await(step));
      return new Result(process.exitValue(), out.bytes(), err.bytes(), !whole || out.truncated() || err.truncated(),
          late);
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw new CancellationException(this + " was killed: the thread that waited for it was interrupted");
    } finally {
      if (process.isAlive()) family(process).forEach(ProcessHandle::destroyForcibly);
    }
  }

  private static void end(Process process) throws InterruptedException {
    var all = family(process);
    all.forEach(ProcessHandle::destroy);
    var ends = CompletableFuture.allOf(all.stream().map(ProcessHandle::onExit).toArray(CompletableFuture[]::new));
    var ended = new CountDownLatch(1);
    ends.whenComplete((none, failure) -> ended.countDown());
    try {
      ExitGrace.await(step -> ended.await(step, TimeUnit.MILLISECONDS));
    } finally { // the obstinate are killed now
      for (var one : all) {
        one.descendants().forEach(ProcessHandle::destroyForcibly); // made meanwhile
        one.destroyForcibly();
      }
    }
    process.waitFor();
  }

  /** Before its end, after which the descendants are unknown. */
  private static List<ProcessHandle> family(Process process) {
    return Stream.concat(process.descendants(), Stream.of(process.toHandle())).toList();
  }

  @Override
  public String toString() {
    return "program " + executable;
  }

  /**
   * A result. Its arrays are compared by identity, and not copied.
   *
   * @param exitCode the exit code; after a kill, the system's
   * @param stdout the output
   * @param stderr the errors
   * @param isTruncated whether there was more, or a child kept it open for two seconds
   * @param isTimedOut whether the limit ended the run
   */
  public record Result(int exitCode, byte[] stdout, byte[] stderr, boolean isTruncated, boolean isTimedOut) {

    /**
     * The output, as UTF-8.
     *
     * @return the text
     */
    public String text() {
      return new String(stdout, StandardCharsets.UTF_8);
    }
  }
}
