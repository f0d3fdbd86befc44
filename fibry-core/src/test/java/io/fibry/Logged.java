package io.fibry;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/** What is logged while this is open; slf4j-simple writes to System.err. */
public final class Logged implements AutoCloseable {
  private final PrintStream before = System.err;
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

  public Logged() {
    System.setErr(new PrintStream(bytes, true, StandardCharsets.UTF_8));
  }

  public String text() {
    return bytes.toString(StandardCharsets.UTF_8);
  }

  @Override
  public void close() {
    System.setErr(before);
  }
}
