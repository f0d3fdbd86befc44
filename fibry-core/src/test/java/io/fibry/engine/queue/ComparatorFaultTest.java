package io.fibry.engine.queue;

import static io.fibry.support.Patience.await;
import static io.fibry.support.Patience.eventually;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorWithReturn;
import io.fibry.AskTimeoutException;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.testing.Gate;
import io.fibry.testing.Variants;
import java.time.Duration;
import java.util.Comparator;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Tests mailboxes whose comparator throws, and that comparators and dead-letter listeners never run
 * on the timer thread.
 */
class ComparatorFaultTest {
  private static final String TIMER_THREAD = "fibry-timer";

  private final Set<String> threads = ConcurrentHashMap.newKeySet();
  private final CountDownLatch thrown = new CountDownLatch(1);
  private volatile boolean comparatorThrows;

  @AfterEach
  void openGates() {
    Gate.openAll();
  }

  @Test
  void cancelSucceedsAlthoughComparatorThrows() {
    var actor = gatedActor();
    Gate.occupy(actor);
    actor.sendMessageReturn("b");
    var request = actor.sendMessageReturn("c");
    comparatorThrows = true;

    assertDoesNotThrow(() -> request.cancel(true));

    assertTrue(request.isCancelled());
  }

  @Test
  void actorSkipsCancelledRequestThatCouldNotBeRemoved() {
    var actor = gatedActor();
    var gate = Gate.occupy(actor);
    actor.sendMessageReturn("b");
    var request = actor.sendMessageReturn("c");
    comparatorThrows = true;
    request.cancel(true);
    comparatorThrows = false;

    gate.open();
    actor.ask("d");

    assertTrue(request.isCancelled());
  }

  @Test
  void askExpiryNeverCallsComparatorOnTimerThread() {
    var actor = gatedActor();
    Gate.occupy(actor);
    actor.sendMessage("b");
    actor.sendMessage("bb");

    // a limit of 100 ms or more is ended by the timer thread; a shorter limit is ended by the
    // asker's own timed park
    assertThrows(AskTimeoutException.class, () -> actor.ask("c", Duration.ofMillis(150)));

    assertFalse(threads.contains(TIMER_THREAD));
  }

  @Test
  void timerMessageIsNeverComparedOnTimerThread() {
    var actor = gatedActor();
    var gate = Gate.occupy(actor);
    actor.sendMessage("b");
    threads.clear();

    actor.sendMessageLater("c", Duration.ofMillis(1));

    eventually(() -> !threads.isEmpty());
    gate.open();
    assertFalse(threads.contains(TIMER_THREAD));
  }

  @Test
  void deadLetterOfTimerIsNeverReportedOnTimerThread() {
    var scope = Variants.scope(o -> o.withDeadLetterListener(letter -> threads.add(Thread.currentThread().getName())));
    Actor<Object> actor = scope.anonymous().mailbox(Mailbox.bounded(1, Overflow.BLOCK)).newActor((Object message) -> {
      if (message instanceof Gate gate) gate.pass();
    });
    Gate.occupy(actor);
    actor.sendMessage("fills it");

    actor.sendMessageLater("late", Duration.ofMillis(1));

    eventually(() -> !threads.isEmpty());
    assertFalse(threads.contains(TIMER_THREAD));
  }

  @Test
  void repeatingTimerContinuesAfterComparatorThrows() {
    var ticks = new AtomicInteger();
    Actor<Object> actor =
        Variants.scope(o -> o).anonymous().mailbox(Mailbox.priority(comparator())).newActor((Object message) -> {
          if (message instanceof Gate gate) gate.pass();
          if (message.equals("tick")) ticks.incrementAndGet();
        });
    var gate = Gate.occupy(actor);
    actor.sendMessage("other");
    comparatorThrows = true;
    actor.sendMessageEvery("tick", Duration.ofMillis(1));
    await(thrown);

    comparatorThrows = false;
    gate.open();

    eventually(() -> ticks.get() >= 3);
  }

  private ActorWithReturn<Object, Integer> gatedActor() {
    return Variants.scope(o -> o).anonymous().mailbox(Mailbox.priority(comparator()))
        .newActorWithReturn((Object message) -> {
          if (message instanceof Gate gate) gate.pass();
          return 1;
        });
  }

  private Comparator<Object> comparator() {
    return (a, b) -> {
      threads.add(Thread.currentThread().getName());
      if (comparatorThrows) throw comparatorFailure();
      return a.toString().compareTo(b.toString());
    };
  }

  private ClassCastException comparatorFailure() {
    thrown.countDown();
    return new ClassCastException("on purpose");
  }
}
