package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A child JVM with the Java and the class path of this one. */
public final class JvmChild implements AutoCloseable {
  private static final int PATIENCE = 60; // seconds

  private final Process process;
  private final BufferedReader out;

  private JvmChild(Process process) {
    this.process = process;
    this.out = process.inputReader();
  }

  public static JvmChild start(List<String> flags, Class<?> main, String... args) throws IOException {
    var command = new ArrayList<String>();
    command.add(ProcessHandle.current().info().command().orElseThrow());
    command.addAll(flags);
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    command.addAll(List.of(args));
    return new JvmChild(new ProcessBuilder(command).redirectErrorStream(true).start());
  }

  public void awaitLine(String wanted) throws IOException {
    var seen = new ArrayList<String>();
    for (var line = out.readLine(); !wanted.equals(line); line = out.readLine()) {
      seen.add(line);
      assertTrue(line != null, () -> "it ended without '" + wanted + "': " + seen);
    }
  }

  /** Ends it by SIGTERM, as a user would. */
  public void terminate() {
    process.toHandle().destroy(); // `process.destroy()` would also close its output
  }

  /** Waits until it ends by itself; returns what it printed. */
  public String ended(int exit) throws InterruptedException {
    var killer = Thread.ofVirtual().start(this::killLate);
    String text = String.join("\n", out.lines().toList());
    killer.interrupt();
    assertTrue(process.waitFor(PATIENCE, TimeUnit.SECONDS), () -> "it does not end: " + text);
    assertEquals(exit, process.exitValue(), text);
    return text;
  }

  private void killLate() {
    try {
      if (!process.waitFor(PATIENCE, TimeUnit.SECONDS)) process.destroyForcibly();
    } catch (InterruptedException ended) {}
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
