package io.fibry.support;

import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.LifecycleMethodExecutionExceptionHandler;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;

/**
 * Adds to the failure of a test the lines that the test printed or logged last. The build also
 * writes the whole output of tests, with these lines, to files beside the test reports.
 */
public final class LastLines
    implements BeforeEachCallback, TestExecutionExceptionHandler, LifecycleMethodExecutionExceptionHandler {
  private static final int MAX_LINES = 120;
  private static final int MAX_LINE_BYTES = 600; // longer lines are cut off there
  private static final Deque<String> LINES = new ArrayDeque<>(); // guarded by itself

  private static final List<Tee> TEES = List.of(new Tee(System.out), new Tee(System.err));

  static {
    System.setOut(new PrintStream(TEES.getFirst(), true, StandardCharsets.UTF_8));
    System.setErr(new PrintStream(TEES.getLast(), true, StandardCharsets.UTF_8));
  }

  /** Passes bytes on. Adds each line to {@link #LINES} when its newline is written. */
  private static final class Tee extends OutputStream {
    private final PrintStream out;
    private final ByteArrayOutputStream line = new ByteArrayOutputStream(); // guarded by this

    Tee(PrintStream out) {
      this.out = out;
    }

    @Override
    public void write(int value) {
      write(new byte[] {(byte) value}, 0, 1);
    }

    @Override
    public synchronized void write(byte[] bytes, int from, int length) {
      out.write(bytes, from, length);
      for (int i = from; i < from + length; i++)
        if (bytes[i] == '\n') {
          addLine(line.toString(StandardCharsets.UTF_8));
          line.reset();
        } else if (line.size() < MAX_LINE_BYTES) line.write(bytes[i]);
    }

    /** Adds the bytes after the last line break as a line. */
    synchronized void endLine() {
      if (line.size() > 0) addLine(line.toString(StandardCharsets.UTF_8));
      line.reset();
    }

    @Override
    public void flush() {
      out.flush();
    }
  }

  /** A suppressed exception without a stack, whose text is the last lines of the test. */
  private static final class LastLinesException extends Throwable {
    private static final long serialVersionUID = 1;

    LastLinesException(String lines) {
      super(lines, null, false, false);
    }

    @Override
    public String toString() {
      return "the last lines of this test:\n" + getMessage();
    }
  }

  private static void addLine(String line) {
    synchronized (LINES) {
      if (LINES.size() == MAX_LINES) LINES.removeFirst();
      LINES.addLast(line);
    }
  }

  private static Throwable withLines(Throwable failure) {
    TEES.forEach(Tee::endLine);
    synchronized (LINES) {
      if (!LINES.isEmpty()) failure.addSuppressed(new LastLinesException(String.join("\n", LINES)));
      LINES.clear();
    }
    return failure;
  }

  @Override
  public void beforeEach(ExtensionContext context) {
    TEES.forEach(Tee::endLine); // otherwise the first line of this test would begin with a text of an earlier test
    synchronized (LINES) {
      LINES.clear();
    }
  }

  @Override
  public void handleTestExecutionException(ExtensionContext context, Throwable failure) throws Throwable {
    throw withLines(failure);
  }

  @Override
  public void handleBeforeAllMethodExecutionException(ExtensionContext context, Throwable failure) throws Throwable {
    throw withLines(failure);
  }

  @Override
  public void handleBeforeEachMethodExecutionException(ExtensionContext context, Throwable failure) throws Throwable {
    throw withLines(failure);
  }

  @Override
  public void handleAfterEachMethodExecutionException(ExtensionContext context, Throwable failure) throws Throwable {
    throw withLines(failure);
  }

  @Override
  public void handleAfterAllMethodExecutionException(ExtensionContext context, Throwable failure) throws Throwable {
    throw withLines(failure);
  }
}
