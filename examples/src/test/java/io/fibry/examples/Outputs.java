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
 * Gives each program in this JVM an output of its own. {@code System.out} and {@code System.err}
 * belong to the JVM, so a text goes to the program whose code prints it: its class loader is on the
 * stack of the printing thread, whichever thread that is. All other texts go where they went
 * before.
 */
final class Outputs extends OutputStream {
  private static final StackWalker STACK = StackWalker
      .getInstance(Set.of(StackWalker.Option.RETAIN_CLASS_REFERENCE, StackWalker.Option.SHOW_HIDDEN_FRAMES));
  private static final Map<ClassLoader, Streams> PROGRAMS = Collections.synchronizedMap(new WeakHashMap<>());
  static final PrintStream OUT = System.out; // of the JVM
  static final PrintStream ERR = System.err;

  static {
    System.setOut(new PrintStream(new Outputs(new Streams(OUT, ERR), Streams::out), true, StandardCharsets.UTF_8));
    System.setErr(new PrintStream(new Outputs(new Streams(OUT, ERR), Streams::err), true, StandardCharsets.UTF_8));
  }

  private record Streams(OutputStream out, OutputStream err) {}

  private final Streams ofTheJvm;
  private final Function<Streams, OutputStream> which;

  private Outputs(Streams ofTheJvm, Function<Streams, OutputStream> which) {
    this.ofTheJvm = ofTheJvm;
    this.which = which;
  }

  /** Sends what this loader's classes print to these streams from now on. */
  static void redirect(ClassLoader program, OutputStream out, OutputStream err) {
    PROGRAMS.put(program, new Streams(out, err));
  }

  private OutputStream current() {
    return which.apply(STACK.walk(frames -> frames.map(frame -> frame.getDeclaringClass().getClassLoader())
        .filter(Objects::nonNull).map(PROGRAMS::get).filter(Objects::nonNull).findFirst()).orElse(ofTheJvm));
  }

  @Override
  public void write(int one) throws IOException {
    current().write(one);
  }

  @Override
  public void write(byte[] bytes, int from, int length) throws IOException {
    var out = current();
    out.write(bytes, from, length);
    out.flush();
  }
}
