package io.fibry.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import org.junit.jupiter.api.Test;

/** Tests {@link LeakProbe} with planted leaks. */
class LeakProbeLeakTest {
  private static final int TIMES = 50_000;

  private final ArrayList<Object> leaks = new ArrayList<>();
  private int rounds;
  private byte[] earlier; // freed by a test

  private void leak(int bytes) {
    rounds++;
    leaks.add(new byte[bytes]);
  }

  @Test
  void leakInEveryRoundIsFound() {
    var failure =
        assertThrows(AssertionError.class, () -> LeakProbe.assertLeavesAtMost(8L * TIMES, () -> leak(16 * TIMES)));

    assertTrue(failure.getMessage().startsWith("each round left more than 400000 bytes, one of them "),
        failure.getMessage());
    assertEquals(4, rounds);
  }

  @Test
  void memoryKeptOnlyInEarlyRoundsIsNoLeak() {
    LeakProbe.assertLeavesAtMost(8L * TIMES, () -> leak(rounds < 2 ? 16 * TIMES : 0));

    assertEquals(3, rounds);
  }

  @Test
  void memoryOfReturnedObjectCountsAsGrowth() {
    long growth = LeakProbe.growth(8 * TIMES, 16 * TIMES + 50_000, () -> new byte[16 * TIMES]);

    assertEquals(16 * TIMES, growth, 100_000);
  }

  @Test
  void growthIgnoresRoundThatAlsoFreesEarlierMemory() {
    earlier = new byte[16 * TIMES];

    long growth = LeakProbe.growth(8 * TIMES, 16 * TIMES + 50_000, () -> {
      earlier = null;
      return new byte[16 * TIMES];
    });

    assertEquals(16 * TIMES, growth, 100_000);
  }
}
