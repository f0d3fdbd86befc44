package io.fibry;

import java.util.List;
import org.junit.jupiter.api.Test;

/** See {@link MemoryStorm}. */
class MemoryStormJvmTest {
  private static final int MILLIS = Boolean.getBoolean("fibry.soak") ? 40_000 : 8_000;

  @Promise("8.4")
  @Test
  void limitsAndEndsHoldThoughTheHeapIsFull() throws Exception {
    var seed = Long.toString(StressHarness.seed());
    System.out.println("memory storm: -Dfibry.seed=" + seed);
    try (var jvm = JvmChild.start(List.of("-Xmx40m", "-XX:+UseSerialGC"), MemoryStorm.class, seed,
        Integer.toString(MILLIS))) {
      System.out.println(jvm.ended(0).lines().reduce("", (before, last) -> last));
    }
  }
}
