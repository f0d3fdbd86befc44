package io.fibry.carriers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.ActorWithReturn;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pool.Pools;
import io.fibry.support.Child;
import io.fibry.support.Patience;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests on which scheduler an actor runs that a virtual thread off the carriers asks. */
class LentDrainTest {
  private final ActorScope scope = ActorSystem.openScope("loans");

  @AfterEach
  void close() {
    scope.close();
  }

  private static boolean isOnCarrier() {
    return JvmAccess.currentCarrier() instanceof Carrier;
  }

  /**
   * Uses a new actor for each request, because an earlier drain may still run after it has
   * answered. On a busy machine, the carriers may take a drain back.
   */
  private static void assertLent(Supplier<ActorWithReturn<Integer, Boolean>> newActor) {
    Patience.eventually("no drain was lent",
        () -> !Patience.value(Patience.callOnFiber(() -> newActor.get().ask(1))));
    assertTrue(newActor.get().ask(1), "asked by a platform thread");
  }

  static List<Mailbox<? super Integer>> mailboxes() {
    return List.of(Mailbox.unbounded(), Mailbox.bounded(8, Overflow.REJECT),
        Mailbox.bounded(8, Overflow.BLOCK),
        Mailbox.unbounded().selective(), Mailbox.<Integer>priority(Comparator.naturalOrder()));
  }

  @ParameterizedTest
  @MethodSource("mailboxes")
  void actorAskedByVirtualThreadRunsOnSchedulerOfAsker(Mailbox<? super Integer> mailbox) {
    assertLent(() -> scope.anonymous().mailbox(mailbox).newActorWithReturn((Integer n) -> isOnCarrier()));
  }

  @Test
  void workerOfPoolAskedByVirtualThreadRunsOnSchedulerOfAsker() {
    assertLent(() -> Pools.fixed(scope.anonymous(), 2).newActorWithReturn((Integer n) -> isOnCarrier()));
  }

  @Test
  void messageOfVirtualThreadRunsOnCarrier() {
    var results = new LinkedBlockingQueue<Boolean>();
    var actor = scope.anonymous().newActor((Integer n) -> {
      results.add(isOnCarrier());
    });

    Patience.startFiber(() -> actor.sendMessage(1));

    assertTrue(Patience.nextOf(results));
  }

  @Test
  void askerOnCarrierLendsNoDrain() {
    var asked = scope.anonymous().newActorWithReturn((Integer n) -> isOnCarrier());
    var asker = scope.anonymous().newActorWithReturn((Integer n) -> asked.ask(n));

    assertTrue(asker.ask(1));
  }

  /** Where the first and the last message of a batch were handled. */
  private record Batch(boolean isFirstOnCarrier, boolean isLastOnCarrier) {}

  /**
   * Lets an actor handle a request of a virtual thread, and then more messages than a drain handles
   * in a row: messages of this thread, or requests of actors.
   */
  private Batch handleBatch(boolean hasAskers) {
    int messages = 1_000;
    var gate = new CountDownLatch(1);
    var results = new LinkedBlockingQueue<Boolean>();
    var actor = scope.anonymous().newActorWithReturn((Integer n) -> {
      if (n == 0) gate.await();
      results.add(isOnCarrier());
      return n;
    });
    Patience.awaitParked(Patience.startFiber(() -> actor.ask(0)));
    for (int i = 1; i <= messages; i++) {
      if (hasAskers) scope.anonymous().newActor((Integer n) -> actor.ask(n)).sendMessage(i);
      else actor.sendMessage(i);
    }
    Patience.eventually(() -> scope.report().queued() >= messages);
    gate.countDown();
    boolean isFirstOnCarrier = Patience.nextOf(results);
    boolean isLastOnCarrier = false;
    for (int i = 1; i <= messages; i++) isLastOnCarrier = Patience.nextOf(results);
    return new Batch(isFirstOnCarrier, isLastOnCarrier);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void actorReturnsToCarriersAfterBatch(boolean hasAskers) {
    var lentBatch = new AtomicReference<Batch>();
    Patience.eventually("no drain was lent", () -> {
      lentBatch.set(handleBatch(hasAskers));
      return !lentBatch.get().isFirstOnCarrier;
    });

    assertTrue(lentBatch.get().isLastOnCarrier);
  }

  /**
   * Two virtual threads share the JDK's only carrier. One asks an actor, and the other then
   * computes until the actor has handled a message of the main thread.
   */
  static final class BusySchedulerProgram {
    public static void main(String[] args) {
      var busy = new CountDownLatch(1);
      var handled = new CountDownLatch(1);
      var actor = ActorSystem.anonymous().newActorWithReturn((String message) -> {
        if (message.equals("sent")) handled.countDown();
        return message;
      });
      var asker = Patience.callOnFiber(() -> {
        Thread.startVirtualThread(() -> {
          busy.countDown();
          while (handled.getCount() > 0) Thread.onSpinWait();
        });
        return actor.ask("asked");
      });
      Patience.await(busy); // the asker is parked, and the thread for its drain waits

      actor.sendMessage("sent");

      Patience.await(handled);
      System.out.println(Patience.value(asker));
      System.exit(0);
    }
  }

  @Test
  void carrierRunsLentDrainIfSchedulerOfAskerIsBusy() {
    try (var child = Child.java(List.of("--add-opens=java.base/java.lang=ALL-UNNAMED", "-Dfibry.carriers=required",
        "-Djdk.virtualThreadScheduler.parallelism=1", "-Djdk.virtualThreadScheduler.maxPoolSize=1"),
        BusySchedulerProgram.class)) {
      assertEquals("asked", child.awaitExit(0));
    }
  }
}
