package io.fibry.support;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The lines that are logged while this is open; slf4j-simple writes to System.err. */
public final class Logged implements AutoCloseable {
  private static final Pattern ENTRY = Pattern.compile("(?m)^(?=\\[)"); // the name of its thread

  private final PrintStream before = System.err;
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

  public Logged() {
    System.setErr(new PrintStream(bytes, true, StandardCharsets.UTF_8));
  }

  public String text() {
    return bytes.toString(StandardCharsets.UTF_8);
  }

  /**
   * Returns the entries, each with its stack, that contain one of these texts: names of the test's
   * own actors and scopes, and parts of its class's name, which is in stacks. The stream belongs to
   * the JVM, so actors that other tests left behind may log meanwhile, too.
   */
  public String about(String... own) {
    return Stream.of(ENTRY.split(text())).filter(entry -> Stream.of(own).anyMatch(entry::contains))
        .collect(Collectors.joining());
  }

  /** The lines that contain this. */
  public List<String> lines(String part) {
    return text().lines().filter(line -> line.contains(part)).toList();
  }

  /**
   * Returns the lines of the calling thread that contain this text; other threads may log
   * meanwhile.
   */
  public List<String> linesOfThisThread(String part) {
    String thread = "[" + Thread.currentThread().getName() + "] ";
    return lines(part).stream().filter(line -> line.contains(thread)).toList();
  }

  @Override
  public void close() {
    System.setErr(before);
  }
}
