package io.fibry.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorStats;
import io.fibry.ActorStats.ActorState;
import io.fibry.ActorSystem;
import io.fibry.FailurePolicy;
import io.fibry.Strategy;
import io.fibry.pool.Pools;
import io.fibry.support.Patience;
import io.fibry.testing.Clock;
import io.fibry.testing.Gate;
import io.fibry.testing.Variants;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests the samples of actors that libraries take all the time. */
class ActorSamplesTest {
  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = ActorSystem.openScope("app", options -> options.withScheduler(clock));

  @AfterEach
  void close() {
    Gate.openAllAndClose(scope, clock);
  }

  private ActorStats sample(String name) {
    return ActorSamples.of(scope, 100).actors().stream().filter(stats -> stats.name().equals(name)).findFirst()
        .orElseThrow();
  }

  private static void handle(Object message) throws InterruptedException {
    if (message instanceof Gate gate) gate.pass();
    if (message instanceof RuntimeException failure) throw failure;
  }

  @Test
  void samplesHaveCountsAndTimesOfActors() {
    var actor = scope.openScope("inner").named("clerk").onFailure(FailurePolicy.resume().withoutLog())
        .newActor(ActorSamplesTest::handle);
    actor.sendMessage("handled");
    actor.sendMessage(new IllegalStateException("planned"));
    Gate.occupy(actor);
    actor.sendMessage("waits");
    sample("clerk"); // by a manual clock, the times begin at this first read
    clock.advance(Duration.ofSeconds(3));

    var sample = sample("clerk");
    var stats = scope.actors().getFirst();
    assertEquals(List.of("app", "inner"), sample.scopes());
    assertEquals(List.of(stats.queued(), stats.oldestWaiting(), stats.handled(), stats.failed(), stats.state()),
        List.of(sample.queued(), sample.oldestWaiting(), sample.handled(), sample.failed(), sample.state()));
    assertEquals(List.of(1L, Duration.ofSeconds(3), Duration.ofSeconds(3)),
        List.of(sample.queued(), sample.oldestWaiting(), sample.busyFor()));
    assertEquals(List.of(List.of(), Optional.empty()), List.of(sample.stack(), sample.messageType()));
  }

  @Test
  void samplesHaveStatesOfIdleReadySuspendedAndPooledActors() {
    scope.named("idle").newActor(ActorSamplesTest::handle);
    scope.named("ready").strategy(Strategy.of(task -> {})).newActor(ActorSamplesTest::handle).sendMessage("waits");
    scope.named("suspended").onFailure(FailurePolicy.restart().withBackoff(Duration.ofHours(1), Duration.ofHours(1))
        .withoutLog()).newActor(ActorSamplesTest::handle).sendMessage(new IllegalStateException("planned"));
    Gate.occupy(Pools.fixed(scope.named("pool"), 3).newActor(ActorSamplesTest::handle));

    assertEquals(List.of(ActorState.IDLE, ActorState.READY, ActorState.BUSY),
        List.of(sample("idle").state(), sample("ready").state(), sample("pool").state()));
    Patience.eventually(() -> sample("suspended").state() == ActorState.SUSPENDED);
    assertEquals(List.of(1, 1, 3),
        List.of(sample("pool").busyWorkers(), sample("pool").workers(), sample("pool").maxWorkers()));
  }

  @Test
  void samplesCallNoTextOfMessage() {
    var calls = new AtomicInteger();
    var gate = new Gate();
    scope.named("clerk").newActor((Object message) -> gate.pass()).sendMessage(new Object() {
      @Override
      public String toString() {
        return "call " + calls.incrementAndGet();
      }
    });
    Patience.await(gate.entered);

    assertEquals(ActorState.BUSY, sample("clerk").state());
    assertEquals(0, calls.get());
  }

  @Test
  void idleActorsAreLeftOutIfThereAreTooMany() {
    for (int i = 0; i < 9; i++) scope.named("idle-" + i).newActor(ActorSamplesTest::handle);
    assertTrue(ActorSamples.of(scope, 9).isComplete());
    for (int i = 0; i < 3; i++) Gate.occupy(scope.named("busy-" + i).newActor(ActorSamplesTest::handle));

    var samples = ActorSamples.of(scope, 9);
    assertFalse(samples.isComplete());
    assertEquals(List.of("busy-0", "busy-1", "busy-2"), samples.actors().stream().map(ActorStats::name).toList());
    assertEquals(2, ActorSamples.of(scope, 2).actors().size());
    assertEquals(12, ActorSamples.of(scope, 12).actors().size());
  }

  @Test
  void samplesAreIncompleteIfActorIsAddedMeanwhile() {
    var inner = new ArrayList<ActorScope>();
    var outer = Variants.scope(o -> o.withScheduler(new Clock() {
      @Override
      public long nanoTime() { // read for the first sample
        if (!inner.isEmpty()) inner.removeFirst().named("added").newActor(ActorSamplesTest::handle);
        return super.nanoTime();
      }
    }));
    var actor = outer.named("first").newActor(ActorSamplesTest::handle);
    var innerScope = outer.openScope("inner");
    innerScope.named("second").newActor(ActorSamplesTest::handle);
    Gate.occupy(actor);
    actor.sendMessage("waits");
    inner.add(innerScope);

    var samples = ActorSamples.of(outer, 2);

    assertEquals(List.of("first", "second"), samples.actors().stream().map(ActorStats::name).toList());
    assertFalse(samples.isComplete());
  }
}
