package io.fibry.engine.jvm;

/**
 * Makes sure that the stack has room for what follows. A StackOverflowError inside the JDK's start
 * or unpark of a virtual thread can leave its scheduler locked for ever.
 *
 * <p>Only the size of the frames matters, and filling them takes time. So all variables are used in
 * one of 1,024 calls only, which keeps the compilers from removing them.
 */
public final class StackProbe {
  private static final int CALLS = 8;
  private static volatile long seen;
  private static int calls; // racing writers may lose some

  private StackProbe() {}

  public static void probe() {
    frame(CALLS, ++calls);
  }

  /** For code that takes something before it sends, and gives it back after. */
  public static void probeForSend() {
    frame(8 * CALLS, ++calls);
  }

  private static int frame(int left, int call) {
    if ((call & 1023) == 0) {
      long a0 = seen, a1 = seen, a2 = seen, a3 = seen, b0 = seen, b1 = seen, b2 = seen, b3 = seen,
          c0 = seen, c1 = seen, c2 = seen, c3 = seen, d0 = seen, d1 = seen, d2 = seen, d3 = seen,
          e0 = seen, e1 = seen, e2 = seen, e3 = seen, f0 = seen, f1 = seen, f2 = seen, f3 = seen,
          g0 = seen, g1 = seen, g2 = seen, g3 = seen, h0 = seen, h1 = seen, h2 = seen, h3 = seen;
      step();
      seen = a0;
      seen = a1;
      seen = a2;
      seen = a3;
      seen = b0;
      seen = b1;
      seen = b2;
      seen = b3;
      seen = c0;
      seen = c1;
      seen = c2;
      seen = c3;
      seen = d0;
      seen = d1;
      seen = d2;
      seen = d3;
      seen = e0;
      seen = e1;
      seen = e2;
      seen = e3;
      seen = f0;
      seen = f1;
      seen = f2;
      seen = f3;
      seen = g0;
      seen = g1;
      seen = g2;
      seen = g3;
      seen = h0;
      seen = h1;
      seen = h2;
      seen = h3;
    }
    return left == 0 ? call : frame(left - 1, call) + 1;
  }

  private static void step() {
    seen++;
  }
}
