package io.fibry.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import org.junit.jupiter.api.Test;

/** Tests {@link LeakProbe} with planted leaks. */
class LeakProbeLeakTest {
  private static final int MEGABYTE = 1_000_000; // earlier tests leave less garbage

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
        assertThrows(AssertionError.class,
            () -> LeakProbe.assertLeavesAtMost(8L * MEGABYTE, () -> leak(16 * MEGABYTE)));

    assertTrue(failure.getMessage().startsWith("each round left more than 8000000 bytes, one of them "),
        failure.getMessage());
    assertEquals(4, rounds);
  }

  @Test
  void memoryKeptOnlyInEarlyRoundsIsNoLeak() {
    LeakProbe.assertLeavesAtMost(8L * MEGABYTE, () -> leak(rounds < 2 ? 16 * MEGABYTE : 0));

    assertEquals(3, rounds);
  }

  @Test
  void memoryOfReturnedObjectCountsAsGrowth() {
    long growth = LeakProbe.growth(8 * MEGABYTE, 17 * MEGABYTE, () -> new byte[16 * MEGABYTE]);

    assertEquals(16 * MEGABYTE, growth, MEGABYTE);
  }

  @Test
  void growthIgnoresRoundThatAlsoFreesEarlierMemory() {
    earlier = new byte[16 * MEGABYTE];

    long growth = LeakProbe.growth(8 * MEGABYTE, 17 * MEGABYTE, () -> {
      earlier = null;
      return new byte[16 * MEGABYTE];
    });

    assertEquals(16 * MEGABYTE, growth, MEGABYTE);
  }
}
