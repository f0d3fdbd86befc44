package io.fibry.pubsub;

import io.fibry.ActorSystem;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import io.fibry.testing.Promise;
import io.fibry.testing.StackEdge;
import io.fibry.testing.StressRuns;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests that followers get later changes after a stack overflow inside a change. */
class ObservableStackEdgeFaultTest {
  private static final int ROUNDS = Soak.ON ? 2_000 : 60;
  private static final int LAST_VALUE = -7;

  private final long seed = StressRuns.seed();
  private final StackEdge edge = new StackEdge(new SplittableRandom(seed));

  @BeforeEach
  void printSeed() {
    System.out.println("overflows of changes: -Dfibry.seed=" + seed);
  }

  @Promise("21.5")
  @Test
  void followerOfValueGetsChangesAfterStackOverflow() {
    for (int i = 0; i < ROUNDS; i++) {
      var value = ObservableValue.of(ActorSystem.anonymous(), -1);
      var received = new AtomicInteger();
      value.subscribe(received::set);
      edge.overflow(value::set);

      value.set(LAST_VALUE);

      Patience.eventually(() -> received.get() == LAST_VALUE);
    }
  }

  @Promise("21.7")
  @Test
  void followerOfMapGetsChangesAfterStackOverflow() {
    for (int i = 0; i < ROUNDS; i++) {
      var map = ObservableMap.<String, Integer>of(ActorSystem.anonymous());
      var received = new AtomicInteger();
      map.subscribe("key", current -> received.set(current.orElse(0)));
      edge.overflow(level -> map.put("key", level));

      map.put("key", LAST_VALUE);

      Patience.eventually(() -> received.get() == LAST_VALUE);
    }
  }
}
