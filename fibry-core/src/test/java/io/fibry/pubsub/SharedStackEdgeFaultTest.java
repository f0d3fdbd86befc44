package io.fibry.pubsub;

import io.fibry.ActorSystem;
import io.fibry.Promise;
import io.fibry.StackEdge;
import io.fibry.StressHarness;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A stack that overflows inside a change makes no follower mute: later changes are told. */
class SharedStackEdgeFaultTest {
  private static final int ROUNDS = Soak.ON ? 2_000 : 60;
  private static final int LAST = -7;

  private final long seed = StressHarness.seed();
  private final StackEdge edge = new StackEdge(new SplittableRandom(seed));

  @BeforeEach
  void printSeed() {
    System.out.println("overflows of changes: -Dfibry.seed=" + seed);
  }

  @Promise("21.5")
  @Test
  void aValueTellsLaterChanges() {
    for (int i = 0; i < ROUNDS; i++) {
      var value = ObservableValue.of(ActorSystem.anonymous(), -1);
      var seen = new AtomicInteger();
      value.subscribe(seen::set);
      edge.overflow(value::set);

      value.set(LAST);

      Patience.eventually(() -> seen.get() == LAST);
    }
  }

  @Promise("21.7")
  @Test
  void aMapTellsLaterChanges() {
    for (int i = 0; i < ROUNDS; i++) {
      var map = ObservableMap.<String, Integer>of(ActorSystem.anonymous());
      var seen = new AtomicInteger();
      map.subscribe("key", now -> seen.set(now.orElse(0)));
      edge.overflow(level -> map.put("key", level));

      map.put("key", LAST);

      Patience.eventually(() -> seen.get() == LAST);
    }
  }
}
