package io.fibry.examples;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.function.Function;

/**
 * Gives each program in this JVM its own output. {@code System.out} and {@code System.err} belong
 * to the JVM, so a text goes to the program whose class loader is on the stack of the printing
 * thread. If the stack has no such class loader, the text goes to the JVM's own output.
 */
final class Outputs extends OutputStream {
  private static final StackWalker STACK = StackWalker
      .getInstance(Set.of(StackWalker.Option.RETAIN_CLASS_REFERENCE, StackWalker.Option.SHOW_HIDDEN_FRAMES));
  private static final Map<ClassLoader, Streams> PROGRAMS = Collections.synchronizedMap(new WeakHashMap<>());
  static final PrintStream OUT = System.out; // the JVM's own output
  static final PrintStream ERR = System.err;

  static {
    System.setOut(new PrintStream(new Outputs(new Streams(OUT, ERR), Streams::out), true, StandardCharsets.UTF_8));
    System.setErr(new PrintStream(new Outputs(new Streams(OUT, ERR), Streams::err), true, StandardCharsets.UTF_8));
  }

  private record Streams(OutputStream out, OutputStream err) {}

  private final Streams jvmStreams;
  private final Function<Streams, OutputStream> selector;

  private Outputs(Streams jvmStreams, Function<Streams, OutputStream> selector) {
    this.jvmStreams = jvmStreams;
    this.selector = selector;
  }

  /** Redirects the output of this loader's classes to these streams. */
  static void redirect(ClassLoader program, OutputStream out, OutputStream err) {
    PROGRAMS.put(program, new Streams(out, err));
  }

  private OutputStream current() {
    return selector.apply(STACK.walk(frames -> frames.map(frame -> frame.getDeclaringClass().getClassLoader())
        .filter(Objects::nonNull).map(PROGRAMS::get).filter(Objects::nonNull).findFirst()).orElse(jvmStreams));
  }

  @Override
  public void write(int value) throws IOException {
    current().write(value);
  }

  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    var out = current();
    out.write(bytes, offset, length);
    out.flush();
  }
}
