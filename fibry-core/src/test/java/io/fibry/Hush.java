package io.fibry;

import java.io.OutputStream;
import java.io.PrintStream;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** For classes that make the library log thousands of overflowed stacks. */
public final class Hush implements BeforeAllCallback, AfterAllCallback {
  private final PrintStream before = System.err;

  @Override
  public void beforeAll(ExtensionContext context) {
    System.setErr(new PrintStream(OutputStream.nullOutputStream()));
  }

  @Override
  public void afterAll(ExtensionContext context) {
    System.setErr(before);
  }
}
