package io.fibry.engine.cell;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.ActorWithReturn;
import io.fibry.engine.message.Wait.WaitingHandler;
import io.fibry.engine.queue.SpinEstimate;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests which askers spin on the carriers. A spin without an answer raises the estimate. */
class AskSpinTest {
  private static final boolean HAS_TWO_PROCESSORS = Runtime.getRuntime().availableProcessors() > 1;

  private final ActorScope scope = ActorSystem.openScope("spins");
  private final CountDownLatch gate = new CountDownLatch(1); // at which the handler waits
  private final BlockingQueue<Boolean> spinningAskers = new LinkedBlockingQueue<>(); // whether the asker spins

  @AfterEach
  void close() {
    gate.countDown();
    scope.close();
  }

  private ActorWithReturn<Object, Object> gatedActor(Mailbox<Object> mailbox) {
    return scope.anonymous().mailbox(mailbox).newActorWithReturn((Object n) -> {
      spinningAskers.add(((Activation) WaitingHandler.current()).hasSpinningAsker());
      gate.await();
      return n;
    });
  }

  private static int estimate(Object actor) {
    return SpinEstimate.of(((PlainQueue) actor).behavior);
  }

  @Test
  void virtualThreadOffCarriersDoesNotSpin() {
    var actor = gatedActor(Mailbox.unbounded());

    var asker = Patience.startFiber(() -> actor.ask(1));

    assertEquals(false, Patience.nextOf(spinningAskers));
    Patience.awaitParked(asker);
    assertEquals(0, estimate(actor));
  }

  private static Thread startAsker(ActorWithReturn<Object, Object> actor) {
    var asker = Thread.ofPlatform().daemon().start(() -> actor.ask(1));
    Patience.awaitParked(asker); // after the spin, if any
    return asker;
  }

  @Test
  void platformThreadSpinsForIdleActor() {
    var actor = gatedActor(Mailbox.unbounded());

    startAsker(actor);

    assertEquals(HAS_TWO_PROCESSORS, Patience.nextOf(spinningAskers));
    assertEquals(HAS_TWO_PROCESSORS ? 1 : 0, Integer.signum(estimate(actor)));
  }

  @Test
  void askerDoesNotSpinForBoundedMailbox() {
    var actor = gatedActor(Mailbox.bounded(8, Overflow.REJECT));

    startAsker(actor);

    assertEquals(false, Patience.nextOf(spinningAskers));
    assertEquals(0, estimate(actor));
  }

  @Test
  void askerDoesNotSpinIfMessagesWait() {
    var actor = gatedActor(Mailbox.unbounded());
    for (int i = 0; i < 2; i++) actor.sendMessage(i);

    startAsker(actor);

    assertEquals(0, estimate(actor));
  }

  @Test
  void askerOnCarrierDoesNotSpin() {
    var actor = gatedActor(Mailbox.unbounded());
    var askers = new LinkedBlockingQueue<Thread>();
    scope.anonymous().newActor((Integer n) -> {
      askers.add(Thread.currentThread());
      actor.ask(n);
    }).sendMessage(1);
    assertEquals(false, Patience.nextOf(spinningAskers));

    Patience.awaitParked(Patience.nextOf(askers));

    assertEquals(0, estimate(actor));
  }
}
