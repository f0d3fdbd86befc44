package io.fibry.jdbc;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Tests which batches the driver sends before it knows the result of the fence. */
class WriteBatchTest {
  private static List<WriteBatch.LifeKey> lives(int count, String keyStart) {
    return IntStream.range(0, count).mapToObj(i -> new WriteBatch.LifeKey("account", keyStart + (1000 + i), 1))
        .toList();
  }

  @Test
  void batchOfFewActorsMayBeSentTogether() {
    assertTrue(WriteBatch.mayBeSentTogether(List.of()));
    assertTrue(WriteBatch.mayBeSentTogether(lives(256, "")));
  }

  @Test
  void batchOfManyActorsWaitsForFence() {
    assertFalse(WriteBatch.mayBeSentTogether(lives(257, "")));
  }

  /** Each life has 11 more bytes, of its kind and of the end of its key. */
  @Test
  void batchWithLongKeysWaitsForFence() {
    assertTrue(WriteBatch.mayBeSentTogether(lives(64, "k".repeat(245))));
    assertFalse(WriteBatch.mayBeSentTogether(lives(64, "k".repeat(246))));
    assertFalse(WriteBatch.mayBeSentTogether(lives(64, "\u20ac".repeat(82)))); // three bytes each
  }
}
