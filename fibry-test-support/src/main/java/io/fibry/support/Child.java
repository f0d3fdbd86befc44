package io.fibry.support;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * A process that a test starts. Its output, standard error included, is read continuously, so the
 * process never blocks on a full pipe. A wait for the process fails if neither its output nor its
 * processor time has grown for {@link Patience#LONG}. So a hanging child fails the test, but a slow
 * child does not. The process ends with {@link #close}, at the latest with this JVM.
 */
public final class Child implements AutoCloseable {
  private static final Set<String> INHERITED = Set.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC");
  private static final Set<Child> RUNNING = ConcurrentHashMap.newKeySet();

  static {
    Runtime.getRuntime().addShutdownHook(new Thread(() -> RUNNING.forEach(Child::kill), "children"));
  }

  private final Process process;
  private final Thread reader;
  private final List<String> lines = new ArrayList<>(); // guarded by itself
  private int passedLines; // how many lines awaitLine has passed; used by the test's thread

  private Child(Process process) {
    this.process = process;
    reader = new Thread(this::read, "output of " + process.pid());
    reader.setDaemon(true);
    reader.start();
    RUNNING.add(this);
  }

  /** Starts a program with its arguments. */
  public static Child start(List<String> command) {
    return start(new ProcessBuilder(command));
  }

  /** Starts the process of a builder, with its standard error merged into its output. */
  public static Child start(ProcessBuilder builder) {
    try {
      return new Child(builder.redirectErrorStream(true).start());
    } catch (IOException failed) {
      throw new UncheckedIOException("cannot start " + builder.command(), failed);
    }
  }

  /** Starts a JVM with the Java version and the class path of this JVM. */
  public static Child java(List<String> flags, Class<?> main, String... arguments) {
    var command = new ArrayList<>(flags);
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    command.addAll(List.of(arguments));
    return java(command);
  }

  /**
   * Starts a JVM with the Java version of this JVM and these arguments. It inherits the flags of
   * the JIT compiler and the garbage collector, which the build chooses for a quick start.
   */
  public static Child java(List<String> arguments) {
    var command = new ArrayList<String>();
    command.add(ProcessHandle.current().info().command().orElseThrow());
    for (var flag : ManagementFactory.getRuntimeMXBean().getInputArguments())
      if (INHERITED.contains(flag)) command.add(flag);
    command.addAll(arguments);
    return start(command);
  }

  /**
   * Called in a child JVM: ends this JVM as soon as its parent has ended, even if the parent was
   * killed. The child must not read its standard input.
   */
  public static void endWithParent() {
    Thread.ofPlatform().daemon().name("end of parent").start(() -> {
      try {
        while (System.in.read() >= 0); // until the parent's end closes this stream
      } catch (IOException failure) {
        throw new UncheckedIOException(failure);
      } finally {
        Runtime.getRuntime().halt(1);
      }
    });
  }

  private void read() {
    try (BufferedReader output = process.inputReader(StandardCharsets.UTF_8)) {
      for (var line = output.readLine(); line != null; line = output.readLine())
        synchronized (lines) {
          lines.add(line);
        }
    } catch (IOException closed) {
      // The process was killed in the middle of a line.
    }
  }

  /** Returns the output that the process has written until now. */
  public String output() {
    return String.join("\n", lines());
  }

  public List<String> lines() {
    synchronized (lines) {
      return List.copyOf(lines);
    }
  }

  /** Waits for this line, which must follow the line for which the previous call waited. */
  public void awaitLine(String wanted) {
    awaitLine(wanted::equals);
  }

  /**
   * Waits for a line that passes the test, and follows the line for which the previous call waited.
   * Returns this line.
   */
  public String awaitLine(Predicate<String> wanted) {
    awaitProgress("the wanted line did not come", () -> position(wanted) >= 0 || !reader.isAlive());
    int position = position(wanted);
    if (position < 0) throw new AssertionError("the process ended without the wanted line; its output:\n" + output());
    passedLines = position + 1;
    return lines().get(position);
  }

  private int position(Predicate<String> wanted) {
    var output = lines();
    for (int i = passedLines; i < output.size(); i++)
      if (wanted.test(output.get(i))) return i;
    return -1;
  }

  /** Waits until the process ends by itself, with this exit code; returns its whole output. */
  public String awaitExit(int exit) {
    int code = exitCode();
    if (code != exit)
      throw new AssertionError("the process ended with " + code + ", not " + exit + "; its output:\n" + output());
    return output();
  }

  /** Waits until the process ends by itself, and returns its exit code. */
  public int exitCode() {
    awaitProgress("process " + process.pid() + " does not end", () -> !process.isAlive() && !reader.isAlive());
    return process.exitValue();
  }

  private void awaitProgress(String failure, BooleanSupplier fact) {
    try {
      Patience.progress(failure, this::progressMeasure, fact);
    } catch (AssertionError noProgress) {
      var dump = process.isAlive() ? printThreads() : "";
      throw new AssertionError(noProgress.getMessage() + "\nits output:\n" + output() + dump, noProgress);
    }
  }

  /** Sends SIGQUIT, at which a JVM prints its threads, and returns the lines printed afterwards. */
  private String printThreads() {
    int lineCount = lines().size();
    if (!signal("QUIT")) return "";
    try {
      reader.join(Duration.ofSeconds(2));
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
    var output = lines();
    return String.join("\n", output.subList(lineCount, output.size()));
  }

  /**
   * Returns the number of output lines plus the processor time in ms, descendants included. The sum
   * grows while the process makes progress.
   */
  private long progressMeasure() {
    synchronized (lines) {
      return lines.size() + processorTime();
    }
  }

  private long processorTime() {
    return Stream.concat(Stream.of(process.toHandle()), process.descendants())
        .mapToLong(handle -> handle.info().totalCpuDuration().map(Duration::toMillis).orElse(0L)).sum();
  }

  public ProcessHandle handle() {
    return process.toHandle();
  }

  /** Returns the stream to the standard input of the process. */
  public OutputStream input() {
    return process.getOutputStream();
  }

  /** Asks the process to end (SIGTERM), as a user would. */
  public void terminate() {
    process.toHandle().destroy(); // `process.destroy()` would also close the output of the process
  }

  /** Kills the process and its descendants (SIGKILL), and waits until it has ended. */
  public void kill() {
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
    process.onExit().join();
  }

  /** Pauses the process (SIGSTOP). */
  public void pause() {
    if (!signal("STOP")) throw new AssertionError("process " + process.pid() + " cannot be paused");
  }

  /** Resumes the process (SIGCONT). */
  public void resume() {
    if (!signal("CONT")) throw new AssertionError("process " + process.pid() + " cannot continue");
  }

  private boolean signal(String name) {
    try {
      return new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start().waitFor() == 0;
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  @Override
  public void close() {
    kill();
    RUNNING.remove(this);
  }
}
