package io.fibry.support;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Collects the lines that are logged until this object is closed. The logger, slf4j-simple, writes
 * these lines to System.err.
 */
public final class Logged implements AutoCloseable {
  private static final Pattern ENTRY = Pattern.compile("(?m)^(?=\\[)"); // an entry begins with the name of its thread

  private final PrintStream originalErr = System.err;
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

  public Logged() {
    System.setErr(new PrintStream(bytes, true, StandardCharsets.UTF_8));
  }

  public String text() {
    return bytes.toString(StandardCharsets.UTF_8);
  }

  /**
   * Returns the entries that contain one of these texts, each with its stack. Pass the names of the
   * test's own actors and scopes, or a part of its class name, which is in stacks. The stream
   * belongs to the whole JVM, so actors that other tests left behind may write to it, too.
   */
  public String entriesAbout(String... texts) {
    return Stream.of(ENTRY.split(text())).filter(entry -> Stream.of(texts).anyMatch(entry::contains))
        .collect(Collectors.joining());
  }

  /** Returns the lines that contain this text. */
  public List<String> lines(String part) {
    return text().lines().filter(line -> line.contains(part)).toList();
  }

  /**
   * Returns the lines that contain this text and that the calling thread has logged. Other threads
   * may log at the same time.
   */
  public List<String> linesOfThisThread(String part) {
    String thread = "[" + Thread.currentThread().getName() + "] ";
    return lines(part).stream().filter(line -> line.contains(thread)).toList();
  }

  @Override
  public void close() {
    System.setErr(originalErr);
  }
}
