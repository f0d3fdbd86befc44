package io.fibry.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.FailurePolicy;
import io.fibry.pool.Pools;
import io.fibry.support.Patience;
import io.fibry.testing.Promise;
import io.fibry.testing.Variants;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Tests the measurements that libraries of metrics publish. */
class MessageTimerTest {
  // @start region="timer"
  static class ListTimer extends MessageTimer {
    final List<Duration> waits = new CopyOnWriteArrayList<>();
    final List<Duration> handlings = new CopyOnWriteArrayList<>();
    volatile boolean isActive = true;

    @Override
    protected boolean isActive() {
      return isActive;
    }

    @Override
    protected void recordWait(int group, Duration wait) {
      waits.add(wait);
    }

    @Override
    protected void recordHandling(int group, Duration handling) {
      handlings.add(handling);
    }
  }
  // @end

  private final ListTimer timer = new ListTimer();
  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope =
      Variants.scope(options -> options.withContextPropagator(timer).withScheduler(clock));

  private void assertCounts(int waits, int handlings) {
    Patience.eventually(() -> timer.handlings.size() >= handlings);
    assertEquals(List.of(waits, handlings), List.of(timer.waits.size(), timer.handlings.size()));
  }

  @Promise("14.14")
  @Test
  void eachMessageIsMeasuredAlsoIfItFails() {
    var actor = scope.anonymous().onFailure(FailurePolicy.resume().withoutLog()).newActor((Integer n) -> {
      if (n == 2) throw new IllegalStateException("on purpose");
    });

    for (int i = 0; i < 3; i++) actor.sendMessage(i);
    actor.close();

    assertCounts(3, 3);
    assertTrue(timer.waits.stream().noneMatch(Duration::isNegative), () -> timer.waits.toString());
  }

  @Promise("14.14")
  @Test
  void blockAndPeriodicTimerRecordOneWait() {
    var actor = scope.anonymous().newActor((Integer n) -> {});
    actor.sendMessages(List.of(1, 2, 3));
    assertCounts(1, 3);

    actor.sendMessageEvery(1, Duration.ofSeconds(1));
    for (int tick = 1; tick <= 3; tick++) {
      clock.advance(Duration.ofSeconds(1));
      assertCounts(2, 3 + tick);
    }
  }

  @Promise("14.14")
  @Test
  void groupsOfActorsAreMeasuredSeparately() {
    var counts = new AtomicIntegerArray(6);
    class GroupTimer extends MessageTimer {
      GroupTimer() {
        super(ActorNames.of(List.of("cart-7", "cart-*")));
      }

      @Override
      protected boolean isActive() {
        return true;
      }

      @Override
      protected void recordWait(int group, Duration wait) {
        counts.incrementAndGet(group);
      }

      @Override
      protected void recordHandling(int group, Duration handling) {
        counts.incrementAndGet(3 + group);
      }
    }
    var groups = new GroupTimer();
    try (var grouped = scope.openScope("grouped", options -> options.withContextPropagator(groups))) {
      for (var name : List.of("cart-7", "cart-8", "cart-9", "payments"))
        grouped.named(name).newActor((Integer n) -> {}).sendMessage(1);
      Pools.fixed(grouped.named("cart-pool"), 2).newActor((Integer n) -> {}).sendMessage(1);
      grouped.anonymous().newActor((Integer n) -> {}).sendMessage(1);
    }

    assertEquals(List.of("cart-7", "cart-*", "other"), groups.groups());
    assertEquals("[1, 3, 2, 1, 3, 2]", counts.toString());
    assertEquals(List.of(""), timer.groups());
  }

  @Test
  void inactiveTimerCapturesNothing() {
    timer.isActive = false;
    assertNull(timer.capture());
    scope.anonymous().newActorWithReturn((Integer n) -> n).ask(1);
    timer.isActive = true;

    assertCounts(0, 0);
  }

  @Promise("14.14")
  @Test
  void multiStepMessageIsMeasuredByItsSteps() {
    record Steps() implements MultiStepMessage {
      @Override
      public Object currentStep() {
        return "a step";
      }

      @Override
      public long completedSteps() {
        return 2;
      }

      @Override
      public AutoCloseable onStepEnd(Consumer<? super Duration> listener) {
        listener.accept(Duration.ofMillis(1));
        listener.accept(Duration.ofMillis(2));
        return () -> {};
      }
    }

    var actor = scope.anonymous().newActor((Steps message) -> {});
    actor.sendMessage(new Steps());
    actor.close();

    assertCounts(1, 2);
    assertEquals(List.of(Duration.ofMillis(1), Duration.ofMillis(2)), timer.handlings);
  }
}
