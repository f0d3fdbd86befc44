package io.fibry.engine.jvm;

import io.fibry.support.Child;
import io.fibry.support.Soak;
import io.fibry.testing.Promise;
import io.fibry.testing.StressRuns;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Runs {@link MemoryStorm} in a JVM with a small heap. */
class MemoryStormJvmTest {
  private static final int ROUNDS = Soak.ON ? 100 : 1;

  @Promise("8.4")
  @Test
  void limitsExpireAndScopesCloseWhileHeapIsFull() throws Exception {
    var seed = Long.toString(StressRuns.seed());
    System.out.println("memory storm: -Dfibry.seed=" + seed);
    try (var jvm = Child.java(List.of("-Xmx40m", "-XX:+UseSerialGC"), MemoryStorm.class, seed,
        Integer.toString(ROUNDS))) {
      System.out.println(jvm.awaitExit(0).lines().reduce("", (before, last) -> last));
    }
  }
}
