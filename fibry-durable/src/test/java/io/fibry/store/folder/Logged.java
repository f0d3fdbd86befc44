package io.fibry.store.folder;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** What is logged while this is open; slf4j-simple writes to System.err. */
public final class Logged implements AutoCloseable {
  private final PrintStream before = System.err;
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

  public Logged() {
    System.setErr(new PrintStream(bytes, true, StandardCharsets.UTF_8));
  }

  /** The lines that say this. */
  public List<String> lines(String what) {
    return bytes.toString(StandardCharsets.UTF_8).lines().filter(line -> line.contains(what)).toList();
  }

  /** The lines of the thread that asks, whatever others log meanwhile. */
  public List<String> linesOfThisThread(String what) {
    String thread = "[" + Thread.currentThread().getName() + "] ";
    return lines(what).stream().filter(line -> line.contains(thread)).toList();
  }

  @Override
  public void close() {
    System.setErr(before);
  }
}
