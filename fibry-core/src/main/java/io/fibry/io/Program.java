package io.fibry.io;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * A program of this machine, to be run within limits: no shell, no environment but what it is
 * given, so much output, so long. Immutable and thread-safe.
 * {@snippet class="io.fibry.IoSnippetsTest" region="program"}
 *
 * <p>It is a function for handlers: in a pool, at most so many run at once. Two threads of the
 * system are held while one runs: a fiber that reads a pipe would hold a carrier. A child that
 * outlives its program, and keeps its output open, keeps them until it ends.
 */
public final class Program implements Cloneable {
  // seconds, to end when it is told, and for its output to end after it
  private static final long GRACE = 2;

  // written by `with..` alone, before anybody else has the copy
  private final Path executable;
  private Map<String, String> environment = Map.of();
  private Optional<Path> directory = Optional.empty();
  private Duration limit = Duration.ofSeconds(30);
  private int maxOutput = 1_000_000;

  private Program(Path executable) {
    this.executable = executable;
  }

  /**
   * The program there.
   *
   * @param executable its absolute path, since what a search finds depends on who searches; no
   * batch file of Windows, whose arguments are read by a shell
   * @return the program
   */
  public static Program at(Path executable) {
    if (!Objects.requireNonNull(executable, "executable").isAbsolute())
      throw new IllegalArgumentException("the program '" + executable + "' could be anywhere; give its absolute path");
    var name = executable.toString().toLowerCase(Locale.ROOT);
    if (name.endsWith(".bat") || name.endsWith(".cmd")) throw new IllegalArgumentException("the program '" + executable
        + "' is run by a shell, which reads its arguments as it likes; give a program that is none");
    return new Program(executable);
  }

  private Program with(Consumer<Program> change) {
    try {
      var copy = (Program) clone();
      change.accept(copy);
      return copy;
    } catch (CloneNotSupportedException impossible) {
      throw new AssertionError(impossible);
    }
  }

  /**
   * A variable of its environment, which has no others.
   *
   * @param name its name
   * @param value its value
   * @return a changed copy
   */
  public Program withEnvironment(String name, String value) {
    if (Objects.requireNonNull(name, "name").isEmpty() || name.indexOf('=') >= 0 || name.indexOf('\0') >= 0)
      throw new IllegalArgumentException("'" + name + "' is no name of a variable; give one without '='");
    var more = new TreeMap<>(environment);
    more.put(name, Objects.requireNonNull(value, "value"));
    return with(copy -> copy.environment = Map.copyOf(more));
  }

  /**
   * Where it runs.
   *
   * @param directory that of this JVM unless changed
   * @return a changed copy
   */
  public Program withDirectory(Path directory) {
    Objects.requireNonNull(directory, "directory");
    return with(copy -> copy.directory = Optional.of(directory));
  }

  /**
   * How long it may run. Then it is told to end, with the children it has; what is left of them
   * after two seconds is killed.
   *
   * @param limit more than zero; 30 seconds unless changed
   * @return a changed copy
   */
  public Program withLimit(Duration limit) {
    if (!Objects.requireNonNull(limit, "limit").isPositive())
      throw new IllegalArgumentException("a limit of " + limit + " leaves no time to run; give more than zero");
    return with(copy -> copy.limit = limit);
  }

  /**
   * How much is kept of what it writes to its output, and of what it writes to its errors; the rest
   * is read and forgotten.
   *
   * @param bytes zero or more; 1,000,000 each unless changed
   * @return a changed copy
   */
  public Program withMaxOutput(int bytes) {
    if (bytes < 0) throw new IllegalArgumentException("an output of at most " + bytes + " bytes; give zero or more");
    return with(copy -> copy.maxOutput = bytes);
  }

  /**
   * Runs it, with nothing to read, and waits for its end. An interrupt kills it, with the children
   * it has.
   *
   * @param arguments as it gets them: nothing in them is special
   * @return what came of it, however it ended
   * @throws IOException if it could not be started
   * @throws CancellationException if the waiting thread is interrupted; the flag is kept
   */
  public Result run(String... arguments) throws IOException {
    return run(new byte[0], List.of(arguments));
  }

  /**
   * The same, with something to read.
   *
   * @param input what it finds to read, and then the end
   * @param arguments as it gets them: nothing in them is special
   * @return what came of it, however it ended
   * @throws IOException if it could not be started
   * @throws CancellationException if the waiting thread is interrupted; the flag is kept
   */
  public Result run(byte[] input, List<String> arguments) throws IOException {
    Objects.requireNonNull(input, "input");
    var command = new ArrayList<String>(List.of(executable.toString()));
    command.addAll(List.copyOf(arguments));
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
      boolean late = !process.waitFor(nanos(limit), TimeUnit.NANOSECONDS);
      if (late) end(process);
      long patience = System.nanoTime() + TimeUnit.SECONDS.toNanos(GRACE);
      boolean whole = out.await(patience) & err.await(patience);
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
    process.waitFor(GRACE, TimeUnit.SECONDS);
    for (var one : all) {
      one.descendants().forEach(ProcessHandle::destroyForcibly); // those made meanwhile
      one.destroyForcibly();
    }
    process.waitFor();
  }

  /**
   * It and its children, and theirs; taken before it ends, since those of one that has ended are
   * nobody's.
   */
  private static List<ProcessHandle> family(Process process) {
    return Stream.concat(process.descendants(), Stream.of(process.toHandle())).toList();
  }

  private static long nanos(Duration limit) {
    return limit.compareTo(Duration.ofNanos(Long.MAX_VALUE)) < 0 ? limit.toNanos() : Long.MAX_VALUE;
  }

  @Override
  public String toString() {
    return "program " + executable;
  }

  /**
   * What came of a run. Compares its arrays by identity, and hands them out as they are.
   *
   * @param exit its exit code; where it was killed, the system's for that
   * @param out what it wrote to its output
   * @param err what it wrote to its errors
   * @param truncated whether it wrote more than that, or a child of it could still have, two
   * seconds after its end
   * @param timedOut whether it was ended by its limit
   */
  public record Result(int exit, byte[] out, byte[] err, boolean truncated, boolean timedOut) {

    /**
     * Its output as text, in UTF-8.
     *
     * @return the text
     */
    public String text() {
      return new String(out, StandardCharsets.UTF_8);
    }
  }
}
