package io.fibry.testing;

import java.io.OutputStream;
import java.io.PrintStream;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * An extension for test classes that make the library log thousands of overflowed stacks. It
 * discards System.err.
 */
public final class SilencedStdErr implements BeforeAllCallback, AfterAllCallback {
  private final PrintStream originalErr = System.err;

  @Override
  public void beforeAll(ExtensionContext context) {
    System.setErr(new PrintStream(OutputStream.nullOutputStream()));
  }

  @Override
  public void afterAll(ExtensionContext context) {
    System.setErr(originalErr);
  }
}
