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
 * A process that a test starts. Its output, standard error included, is read at once, so it never
 * waits for its reader. A wait for it fails only if neither its output nor its processor time has
 * grown for {@link Patience#LONG}: a child that hangs does nothing, and a child on a slow machine
 * does little. It ends with {@link #close}, at the latest with this JVM.
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
  private int awaited; // lines that awaitLine has passed; of the test's thread

  private Child(Process process) {
    this.process = process;
    reader = new Thread(this::read, "output of " + process.pid());
    reader.setDaemon(true);
    reader.start();
    RUNNING.add(this);
  }

  /** A program with its arguments. */
  public static Child start(List<String> command) {
    return start(new ProcessBuilder(command));
  }

  /** A process as it is described; its standard error goes where its output goes. */
  public static Child start(ProcessBuilder builder) {
    try {
      return new Child(builder.redirectErrorStream(true).start());
    } catch (IOException failed) {
      throw new UncheckedIOException("cannot start " + builder.command(), failed);
    }
  }

  /** A JVM with the Java and the class path of this one. */
  public static Child java(List<String> flags, Class<?> main, String... arguments) {
    var all = new ArrayList<>(flags);
    all.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    all.addAll(List.of(arguments));
    return java(all);
  }

  /**
   * A JVM with the Java of this JVM, and these arguments. It also has the compiler and the garbage
   * collector of this JVM, because the build chooses flags with which a JVM begins soonest.
   */
  public static Child java(List<String> arguments) {
    var command = new ArrayList<String>();
    command.add(ProcessHandle.current().info().command().orElseThrow());
    for (var flag : ManagementFactory.getRuntimeMXBean().getInputArguments())
      if (INHERITED.contains(flag)) command.add(flag);
    command.addAll(arguments);
    return start(command);
  }

  private void read() {
    try (BufferedReader output = process.inputReader(StandardCharsets.UTF_8)) {
      for (var line = output.readLine(); line != null; line = output.readLine())
        synchronized (lines) {
          lines.add(line);
        }
    } catch (IOException closed) {
      // Killed in the middle of a line.
    }
  }

  /** All that it has printed until now. */
  public String output() {
    return String.join("\n", lines());
  }

  public List<String> lines() {
    synchronized (lines) {
      return List.copyOf(lines);
    }
  }

  /** Waits for this line, after the line that was awaited last. */
  public void awaitLine(String wanted) {
    awaitLine(wanted::equals);
  }

  /** Waits for such a line, after the line that was awaited last, and returns it. */
  public String awaitLine(Predicate<String> wanted) {
    progress("the wanted line did not come", () -> position(wanted) >= 0 || !reader.isAlive());
    int found = position(wanted);
    if (found < 0) throw new AssertionError("it ended without the wanted line; its output:\n" + output());
    awaited = found + 1;
    return lines().get(found);
  }

  private int position(Predicate<String> wanted) {
    var all = lines();
    for (int i = awaited; i < all.size(); i++)
      if (wanted.test(all.get(i))) return i;
    return -1;
  }

  /** Waits until it ends by itself with this exit code; returns all that it printed. */
  public String ended(int exit) {
    int code = exitCode();
    if (code != exit)
      throw new AssertionError("it ended with " + code + ", not " + exit + "; its output:\n" + output());
    return output();
  }

  /** Waits until it ends by itself. */
  public int exitCode() {
    progress("process " + process.pid() + " does not end", () -> !process.isAlive() && !reader.isAlive());
    return process.exitValue();
  }

  private void progress(String failure, BooleanSupplier fact) {
    try {
      Patience.progress(failure, this::growth, fact);
    } catch (AssertionError hangs) {
      var dump = process.isAlive() ? threads() : "";
      throw new AssertionError(hangs.getMessage() + "\nits output:\n" + output() + dump, hangs);
    }
  }

  /** A JVM prints its threads at this signal. */
  private String threads() {
    int before = lines().size();
    if (!signal("QUIT")) return "";
    try {
      reader.join(Duration.ofSeconds(2));
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
    var all = lines();
    return String.join("\n", all.subList(before, all.size()));
  }

  /** Output and processor time, its descendants' included: they grow while it works. */
  private long growth() {
    synchronized (lines) {
      return lines.size() + processorTime();
    }
  }

  private long processorTime() {
    return Stream.concat(Stream.of(process.toHandle()), process.descendants())
        .mapToLong(one -> one.info().totalCpuDuration().map(Duration::toMillis).orElse(0L)).sum();
  }

  public ProcessHandle handle() {
    return process.toHandle();
  }

  /** Its standard input. */
  public OutputStream input() {
    return process.getOutputStream();
  }

  /** Asks it to end (SIGTERM), as a user would. */
  public void terminate() {
    process.toHandle().destroy(); // `process.destroy()` would also close its output
  }

  /** Ends it and all that it started (SIGKILL), and waits until that is so. */
  public void kill() {
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
    process.onExit().join();
  }

  /** Stops it (SIGSTOP). */
  public void pause() {
    if (!signal("STOP")) throw new AssertionError("process " + process.pid() + " cannot be paused");
  }

  /** Lets it continue (SIGCONT). */
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
