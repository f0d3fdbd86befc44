package io.fibry.engine.jvm;

/**
 * Checks that the stack has enough space for the calls that follow, and otherwise throws a
 * StackOverflowError. Such an error inside the JDK's start or unpark of a virtual thread can leave
 * the scheduler of virtual threads locked forever.
 *
 * <p>Only the size of the frames matters, and filling them takes time. So only one of 1,024 frames
 * uses its variables. This use keeps the JVM's compilers from removing the variables, but only if
 * every profile that a compiler reads contains the use. Therefore the counter counts frames, not
 * calls of a probe. A few large frames cost less than many small frames; the JVM compiles no method
 * of more than 8,000 bytes of bytecode.
 */
public final class StackProbe {
  private static final int STRIPES = 64;
  private static final int STRIPE_LENGTH = 16; // array elements per stripe, so that no two share a cache line

  private static volatile long seen; // its value has no meaning: each used frame reads and writes it
  private static final int[] FRAME_NUMBERS = new int[STRIPES * STRIPE_LENGTH]; // racing writers may lose numbers

  private StackProbe() {}

  /** Probes before the start or unpark of a thread. */
  public static void probe() {
    frames(1);
  }

  /** Probes before code that gives an actor a thread, or sets a timer that later does so. */
  public static void probeForActivation() {
    frames(3);
  }

  /** Probes before code whose sends must not fail halfway. */
  public static void probeForSend() {
    frames(6);
  }

  /** Probes before the first use of a library whose static initializers must not fail halfway. */
  static void probeForInitializers() {
    frames(16);
  }

  /**
   * Calls {@link #frame} {@code count} times, each with a frame of about 4 kB. Successive frames of
   * a thread have successive numbers.
   */
  private static void frames(int count) {
    int stripe = ((int) Thread.currentThread().threadId() & STRIPES - 1) * STRIPE_LENGTH;
    frame(count - 1, FRAME_NUMBERS[stripe] += count);
  }

  private static int frame(int remaining, int number) {
    if ((number + remaining & 1023) == 0) {
      long a0 = seen, a1 = seen, a2 = seen, a3 = seen, a4 = seen, a5 = seen, a6 = seen, a7 = seen, a8 = seen, a9 = seen,
          a10 = seen, a11 = seen, a12 = seen, a13 = seen, a14 = seen, a15 = seen, a16 = seen, a17 = seen, a18 = seen,
          a19 = seen, a20 = seen, a21 = seen, a22 = seen, a23 = seen, a24 = seen, a25 = seen, a26 = seen, a27 = seen,
          a28 = seen, a29 = seen, a30 = seen, a31 = seen, a32 = seen, a33 = seen, a34 = seen, a35 = seen, a36 = seen,
          a37 = seen, a38 = seen, a39 = seen, b0 = seen, b1 = seen, b2 = seen, b3 = seen, b4 = seen, b5 = seen,
          b6 = seen, b7 = seen, b8 = seen, b9 = seen, b10 = seen, b11 = seen, b12 = seen, b13 = seen, b14 = seen,
          b15 = seen, b16 = seen, b17 = seen, b18 = seen, b19 = seen, b20 = seen, b21 = seen, b22 = seen, b23 = seen,
          b24 = seen, b25 = seen, b26 = seen, b27 = seen, b28 = seen, b29 = seen, b30 = seen, b31 = seen, b32 = seen,
          b33 = seen, b34 = seen, b35 = seen, b36 = seen, b37 = seen, b38 = seen, b39 = seen, c0 = seen, c1 = seen,
          c2 = seen, c3 = seen, c4 = seen, c5 = seen, c6 = seen, c7 = seen, c8 = seen, c9 = seen, c10 = seen,
          c11 = seen, c12 = seen, c13 = seen, c14 = seen, c15 = seen, c16 = seen, c17 = seen, c18 = seen, c19 = seen,
          c20 = seen, c21 = seen, c22 = seen, c23 = seen, c24 = seen, c25 = seen, c26 = seen, c27 = seen, c28 = seen,
          c29 = seen, c30 = seen, c31 = seen, c32 = seen, c33 = seen, c34 = seen, c35 = seen, c36 = seen, c37 = seen,
          c38 = seen, c39 = seen, d0 = seen, d1 = seen, d2 = seen, d3 = seen, d4 = seen, d5 = seen, d6 = seen,
          d7 = seen, d8 = seen, d9 = seen, d10 = seen, d11 = seen, d12 = seen, d13 = seen, d14 = seen, d15 = seen,
          d16 = seen, d17 = seen, d18 = seen, d19 = seen, d20 = seen, d21 = seen, d22 = seen, d23 = seen, d24 = seen,
          d25 = seen, d26 = seen, d27 = seen, d28 = seen, d29 = seen, d30 = seen, d31 = seen, d32 = seen, d33 = seen,
          d34 = seen, d35 = seen, d36 = seen, d37 = seen, d38 = seen, d39 = seen, e0 = seen, e1 = seen, e2 = seen,
          e3 = seen, e4 = seen, e5 = seen, e6 = seen, e7 = seen, e8 = seen, e9 = seen, e10 = seen, e11 = seen,
          e12 = seen, e13 = seen, e14 = seen, e15 = seen, e16 = seen, e17 = seen, e18 = seen, e19 = seen, e20 = seen,
          e21 = seen, e22 = seen, e23 = seen, e24 = seen, e25 = seen, e26 = seen, e27 = seen, e28 = seen, e29 = seen,
          e30 = seen, e31 = seen, e32 = seen, e33 = seen, e34 = seen, e35 = seen, e36 = seen, e37 = seen, e38 = seen,
          e39 = seen, f0 = seen, f1 = seen, f2 = seen, f3 = seen, f4 = seen, f5 = seen, f6 = seen, f7 = seen, f8 = seen,
          f9 = seen, f10 = seen, f11 = seen, f12 = seen, f13 = seen, f14 = seen, f15 = seen, f16 = seen, f17 = seen,
          f18 = seen, f19 = seen, f20 = seen, f21 = seen, f22 = seen, f23 = seen, f24 = seen, f25 = seen, f26 = seen,
          f27 = seen, f28 = seen, f29 = seen, f30 = seen, f31 = seen, f32 = seen, f33 = seen, f34 = seen, f35 = seen,
          f36 = seen, f37 = seen, f38 = seen, f39 = seen, g0 = seen, g1 = seen, g2 = seen, g3 = seen, g4 = seen,
          g5 = seen, g6 = seen, g7 = seen, g8 = seen, g9 = seen, g10 = seen, g11 = seen, g12 = seen, g13 = seen,
          g14 = seen, g15 = seen, g16 = seen, g17 = seen, g18 = seen, g19 = seen, g20 = seen, g21 = seen, g22 = seen,
          g23 = seen, g24 = seen, g25 = seen, g26 = seen, g27 = seen, g28 = seen, g29 = seen, g30 = seen, g31 = seen,
          g32 = seen, g33 = seen, g34 = seen, g35 = seen, g36 = seen, g37 = seen, g38 = seen, g39 = seen, h0 = seen,
          h1 = seen, h2 = seen, h3 = seen, h4 = seen, h5 = seen, h6 = seen, h7 = seen, h8 = seen, h9 = seen, h10 = seen,
          h11 = seen, h12 = seen, h13 = seen, h14 = seen, h15 = seen, h16 = seen, h17 = seen, h18 = seen, h19 = seen,
          h20 = seen, h21 = seen, h22 = seen, h23 = seen, h24 = seen, h25 = seen, h26 = seen, h27 = seen, h28 = seen,
          h29 = seen, h30 = seen, h31 = seen, h32 = seen, h33 = seen, h34 = seen, h35 = seen, h36 = seen, h37 = seen,
          h38 = seen, h39 = seen, i0 = seen, i1 = seen, i2 = seen, i3 = seen, i4 = seen, i5 = seen, i6 = seen,
          i7 = seen, i8 = seen, i9 = seen, i10 = seen, i11 = seen, i12 = seen, i13 = seen, i14 = seen, i15 = seen,
          i16 = seen, i17 = seen, i18 = seen, i19 = seen, i20 = seen, i21 = seen, i22 = seen, i23 = seen, i24 = seen,
          i25 = seen, i26 = seen, i27 = seen, i28 = seen, i29 = seen, i30 = seen, i31 = seen, i32 = seen, i33 = seen,
          i34 = seen, i35 = seen, i36 = seen, i37 = seen, i38 = seen, i39 = seen, j0 = seen, j1 = seen, j2 = seen,
          j3 = seen, j4 = seen, j5 = seen, j6 = seen, j7 = seen, j8 = seen, j9 = seen, j10 = seen, j11 = seen,
          j12 = seen, j13 = seen, j14 = seen, j15 = seen, j16 = seen, j17 = seen, j18 = seen, j19 = seen, j20 = seen,
          j21 = seen, j22 = seen, j23 = seen, j24 = seen, j25 = seen, j26 = seen, j27 = seen, j28 = seen, j29 = seen,
          j30 = seen, j31 = seen, j32 = seen, j33 = seen, j34 = seen, j35 = seen, j36 = seen, j37 = seen, j38 = seen,
          j39 = seen, k0 = seen, k1 = seen, k2 = seen, k3 = seen, k4 = seen, k5 = seen, k6 = seen, k7 = seen, k8 = seen,
          k9 = seen, k10 = seen, k11 = seen, k12 = seen, k13 = seen, k14 = seen, k15 = seen, k16 = seen, k17 = seen,
          k18 = seen, k19 = seen, k20 = seen, k21 = seen, k22 = seen, k23 = seen, k24 = seen, k25 = seen, k26 = seen,
          k27 = seen, k28 = seen, k29 = seen, k30 = seen, k31 = seen, k32 = seen, k33 = seen, k34 = seen, k35 = seen,
          k36 = seen, k37 = seen, k38 = seen, k39 = seen, l0 = seen, l1 = seen, l2 = seen, l3 = seen, l4 = seen,
          l5 = seen, l6 = seen, l7 = seen, l8 = seen, l9 = seen, l10 = seen, l11 = seen, l12 = seen, l13 = seen,
          l14 = seen, l15 = seen, l16 = seen, l17 = seen, l18 = seen, l19 = seen, l20 = seen, l21 = seen, l22 = seen,
          l23 = seen, l24 = seen, l25 = seen, l26 = seen, l27 = seen, l28 = seen, l29 = seen, l30 = seen, l31 = seen,
          l32 = seen, l33 = seen, l34 = seen, l35 = seen, l36 = seen, l37 = seen, l38 = seen, l39 = seen;
      step();
      seen = a0 ^ a1 ^ a2 ^ a3 ^ a4 ^ a5 ^ a6 ^ a7 ^ a8 ^ a9 ^ a10 ^ a11 ^ a12 ^ a13 ^ a14 ^ a15 ^ a16 ^ a17 ^ a18
          ^ a19 ^ a20 ^ a21 ^ a22 ^ a23 ^ a24 ^ a25 ^ a26 ^ a27 ^ a28 ^ a29 ^ a30 ^ a31 ^ a32 ^ a33 ^ a34 ^ a35 ^ a36
          ^ a37 ^ a38 ^ a39 ^ b0 ^ b1 ^ b2 ^ b3 ^ b4 ^ b5 ^ b6 ^ b7 ^ b8 ^ b9 ^ b10 ^ b11 ^ b12 ^ b13 ^ b14 ^ b15 ^ b16
          ^ b17 ^ b18 ^ b19 ^ b20 ^ b21 ^ b22 ^ b23 ^ b24 ^ b25 ^ b26 ^ b27 ^ b28 ^ b29 ^ b30 ^ b31 ^ b32 ^ b33 ^ b34
          ^ b35 ^ b36 ^ b37 ^ b38 ^ b39 ^ c0 ^ c1 ^ c2 ^ c3 ^ c4 ^ c5 ^ c6 ^ c7 ^ c8 ^ c9 ^ c10 ^ c11 ^ c12 ^ c13 ^ c14
          ^ c15 ^ c16 ^ c17 ^ c18 ^ c19 ^ c20 ^ c21 ^ c22 ^ c23 ^ c24 ^ c25 ^ c26 ^ c27 ^ c28 ^ c29 ^ c30 ^ c31 ^ c32
          ^ c33 ^ c34 ^ c35 ^ c36 ^ c37 ^ c38 ^ c39 ^ d0 ^ d1 ^ d2 ^ d3 ^ d4 ^ d5 ^ d6 ^ d7 ^ d8 ^ d9 ^ d10 ^ d11 ^ d12
          ^ d13 ^ d14 ^ d15 ^ d16 ^ d17 ^ d18 ^ d19 ^ d20 ^ d21 ^ d22 ^ d23 ^ d24 ^ d25 ^ d26 ^ d27 ^ d28 ^ d29 ^ d30
          ^ d31 ^ d32 ^ d33 ^ d34 ^ d35 ^ d36 ^ d37 ^ d38 ^ d39 ^ e0 ^ e1 ^ e2 ^ e3 ^ e4 ^ e5 ^ e6 ^ e7 ^ e8 ^ e9 ^ e10
          ^ e11 ^ e12 ^ e13 ^ e14 ^ e15 ^ e16 ^ e17 ^ e18 ^ e19 ^ e20 ^ e21 ^ e22 ^ e23 ^ e24 ^ e25 ^ e26 ^ e27 ^ e28
          ^ e29 ^ e30 ^ e31 ^ e32 ^ e33 ^ e34 ^ e35 ^ e36 ^ e37 ^ e38 ^ e39 ^ f0 ^ f1 ^ f2 ^ f3 ^ f4 ^ f5 ^ f6 ^ f7
          ^ f8 ^ f9 ^ f10 ^ f11 ^ f12 ^ f13 ^ f14 ^ f15 ^ f16 ^ f17 ^ f18 ^ f19 ^ f20 ^ f21 ^ f22 ^ f23 ^ f24 ^ f25
          ^ f26 ^ f27 ^ f28 ^ f29 ^ f30 ^ f31 ^ f32 ^ f33 ^ f34 ^ f35 ^ f36 ^ f37 ^ f38 ^ f39 ^ g0 ^ g1 ^ g2 ^ g3 ^ g4
          ^ g5 ^ g6 ^ g7 ^ g8 ^ g9 ^ g10 ^ g11 ^ g12 ^ g13 ^ g14 ^ g15 ^ g16 ^ g17 ^ g18 ^ g19 ^ g20 ^ g21 ^ g22 ^ g23
          ^ g24 ^ g25 ^ g26 ^ g27 ^ g28 ^ g29 ^ g30 ^ g31 ^ g32 ^ g33 ^ g34 ^ g35 ^ g36 ^ g37 ^ g38 ^ g39 ^ h0 ^ h1
          ^ h2 ^ h3 ^ h4 ^ h5 ^ h6 ^ h7 ^ h8 ^ h9 ^ h10 ^ h11 ^ h12 ^ h13 ^ h14 ^ h15 ^ h16 ^ h17 ^ h18 ^ h19 ^ h20
          ^ h21 ^ h22 ^ h23 ^ h24 ^ h25 ^ h26 ^ h27 ^ h28 ^ h29 ^ h30 ^ h31 ^ h32 ^ h33 ^ h34 ^ h35 ^ h36 ^ h37 ^ h38
          ^ h39 ^ i0 ^ i1 ^ i2 ^ i3 ^ i4 ^ i5 ^ i6 ^ i7 ^ i8 ^ i9 ^ i10 ^ i11 ^ i12 ^ i13 ^ i14 ^ i15 ^ i16 ^ i17 ^ i18
          ^ i19 ^ i20 ^ i21 ^ i22 ^ i23 ^ i24 ^ i25 ^ i26 ^ i27 ^ i28 ^ i29 ^ i30 ^ i31 ^ i32 ^ i33 ^ i34 ^ i35 ^ i36
          ^ i37 ^ i38 ^ i39 ^ j0 ^ j1 ^ j2 ^ j3 ^ j4 ^ j5 ^ j6 ^ j7 ^ j8 ^ j9 ^ j10 ^ j11 ^ j12 ^ j13 ^ j14 ^ j15 ^ j16
          ^ j17 ^ j18 ^ j19 ^ j20 ^ j21 ^ j22 ^ j23 ^ j24 ^ j25 ^ j26 ^ j27 ^ j28 ^ j29 ^ j30 ^ j31 ^ j32 ^ j33 ^ j34
          ^ j35 ^ j36 ^ j37 ^ j38 ^ j39 ^ k0 ^ k1 ^ k2 ^ k3 ^ k4 ^ k5 ^ k6 ^ k7 ^ k8 ^ k9 ^ k10 ^ k11 ^ k12 ^ k13 ^ k14
          ^ k15 ^ k16 ^ k17 ^ k18 ^ k19 ^ k20 ^ k21 ^ k22 ^ k23 ^ k24 ^ k25 ^ k26 ^ k27 ^ k28 ^ k29 ^ k30 ^ k31 ^ k32
          ^ k33 ^ k34 ^ k35 ^ k36 ^ k37 ^ k38 ^ k39 ^ l0 ^ l1 ^ l2 ^ l3 ^ l4 ^ l5 ^ l6 ^ l7 ^ l8 ^ l9 ^ l10 ^ l11 ^ l12
          ^ l13 ^ l14 ^ l15 ^ l16 ^ l17 ^ l18 ^ l19 ^ l20 ^ l21 ^ l22 ^ l23 ^ l24 ^ l25 ^ l26 ^ l27 ^ l28 ^ l29 ^ l30
          ^ l31 ^ l32 ^ l33 ^ l34 ^ l35 ^ l36 ^ l37 ^ l38 ^ l39;
    }
    return remaining == 0 ? number : frame(remaining - 1, number) + 1;
  }

  private static void step() {
    seen++;
  }
}
