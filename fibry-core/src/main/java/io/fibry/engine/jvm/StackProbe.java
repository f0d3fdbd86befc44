package io.fibry.engine.jvm;

/**
 * Makes sure that the stack has room for what follows. A StackOverflowError inside the JDK's start
 * or unpark of a virtual thread can leave its scheduler locked for ever.
 *
 * <p>Only the size of the frames matters, and filling them takes time. So the variables are used in
 * one of 1,024 frames only. That keeps the compilers from removing them, as long as every profile
 * has seen it: hence one of so many frames, not calls.
 */
public final class StackProbe {
  private static final int FRAMES = 3; // some 800 bytes each
  private static volatile long seen;
  private static int numbers; // racing writers may lose some

  private StackProbe() {}

  /** For a thread's start or unpark. */
  public static void probe() {
    frame(FRAMES, next());
  }

  /** For code that gives an actor a thread, or has a timer do it. */
  public static void probeForActivation() {
    frame(3 * FRAMES, next());
  }

  /** For code that takes something before it sends, and gives it back after. */
  public static void probeForSend() {
    frame(8 * FRAMES, next());
  }

  /** So that frames of successive small probes have successive numbers. */
  private static int next() {
    return numbers += FRAMES + 1;
  }

  private static int frame(int left, int number) {
    if ((number + left & 1023) == 0) {
      long a0 = seen, a1 = seen, a2 = seen, a3 = seen, a4 = seen, a5 = seen, a6 = seen, a7 = seen, b0 = seen, b1 = seen,
          b2 = seen, b3 = seen, b4 = seen, b5 = seen, b6 = seen, b7 = seen, c0 = seen, c1 = seen, c2 = seen, c3 = seen,
          c4 = seen, c5 = seen, c6 = seen, c7 = seen, d0 = seen, d1 = seen, d2 = seen, d3 = seen, d4 = seen, d5 = seen,
          d6 = seen, d7 = seen, e0 = seen, e1 = seen, e2 = seen, e3 = seen, e4 = seen, e5 = seen, e6 = seen, e7 = seen,
          f0 = seen, f1 = seen, f2 = seen, f3 = seen, f4 = seen, f5 = seen, f6 = seen, f7 = seen, g0 = seen, g1 = seen,
          g2 = seen, g3 = seen, g4 = seen, g5 = seen, g6 = seen, g7 = seen, h0 = seen, h1 = seen, h2 = seen, h3 = seen,
          h4 = seen, h5 = seen, h6 = seen, h7 = seen, i0 = seen, i1 = seen, i2 = seen, i3 = seen, i4 = seen, i5 = seen,
          i6 = seen, i7 = seen, j0 = seen, j1 = seen, j2 = seen, j3 = seen, j4 = seen, j5 = seen, j6 = seen, j7 = seen,
          k0 = seen, k1 = seen, k2 = seen, k3 = seen, k4 = seen, k5 = seen, k6 = seen, k7 = seen, l0 = seen, l1 = seen,
          l2 = seen, l3 = seen, l4 = seen, l5 = seen, l6 = seen, l7 = seen;
      step();
      seen = a0 ^ a1 ^ a2 ^ a3 ^ a4 ^ a5 ^ a6 ^ a7 ^ b0 ^ b1 ^ b2 ^ b3 ^ b4 ^ b5 ^ b6 ^ b7 ^ c0 ^ c1 ^ c2 ^ c3 ^ c4 ^ c5
          ^ c6 ^ c7 ^ d0 ^ d1 ^ d2 ^ d3 ^ d4 ^ d5 ^ d6 ^ d7 ^ e0 ^ e1 ^ e2 ^ e3 ^ e4 ^ e5 ^ e6 ^ e7 ^ f0 ^ f1 ^ f2 ^ f3
          ^ f4 ^ f5 ^ f6 ^ f7 ^ g0 ^ g1 ^ g2 ^ g3 ^ g4 ^ g5 ^ g6 ^ g7 ^ h0 ^ h1 ^ h2 ^ h3 ^ h4 ^ h5 ^ h6 ^ h7 ^ i0 ^ i1
          ^ i2 ^ i3 ^ i4 ^ i5 ^ i6 ^ i7 ^ j0 ^ j1 ^ j2 ^ j3 ^ j4 ^ j5 ^ j6 ^ j7 ^ k0 ^ k1 ^ k2 ^ k3 ^ k4 ^ k5 ^ k6 ^ k7
          ^ l0 ^ l1 ^ l2 ^ l3 ^ l4 ^ l5 ^ l6 ^ l7;
    }
    return left == 0 ? number : frame(left - 1, number) + 1;
  }

  private static void step() {
    seen++;
  }
}
