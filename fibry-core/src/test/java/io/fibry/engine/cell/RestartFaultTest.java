package io.fibry.engine.cell;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.FailurePolicy;
import io.fibry.Request;
import io.fibry.mailbox.Mailbox;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Variants;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests interrupts while an actor restarts or retries a message. */
class RestartFaultTest {
  private final ActorScope scope = Variants.scope(o -> o.withKillGrace(Duration.ofDays(1)));
  private final CompletableFuture<Boolean> interrupted = new CompletableFuture<>();

  record Get() implements Request<Get, String> {}

  @AfterEach
  void cleanUp() {
    Gate.openAll();
  }

  @Test
  void interruptInStopHookDoesNotReachNextMessage() {
    var actor = scope.anonymous().initialState(Object::new).onStop(state -> Thread.currentThread().interrupt())
        .newActor((Object state, Object m) -> {
          if (m instanceof Gate gate) gate.pass();
          else interrupted.complete(Thread.currentThread().isInterrupted());
        });
    var gate = Gate.occupy(actor);
    ((Cell) actor).requestRestart(0);
    actor.sendMessage("next");

    gate.open();

    assertFalse(Patience.value(interrupted));
  }

  /**
   * The first try receives a request and fails. The request then fails before the retry begins, and
   * its callback kills the actor.
   */
  @Test
  void killBeforeRetryInterruptsRetry() {
    var tries = new AtomicInteger();
    var actor = scope.anonymous().mailbox(Mailbox.unbounded().selective())
        .onFailure(FailurePolicy.resume().withRetries(1).withoutLog())
        .newActor((Object m, ActorContext<Object> context) -> {
          if (m instanceof Gate gate) gate.pass();
          else if (tries.getAndIncrement() == 0) {
            context.receive(Get.class, Patience.LONG).orElseThrow();
            throw new IllegalStateException("planned");
          } else waitForInterrupt();
        });
    var gate = Gate.occupy(actor);
    actor.sendMessage("twice");
    CompletableFuture.allOf(actor.sendMessageReturn(new Get())).whenComplete((answer, failure) -> actor.kill());

    gate.open();

    assertTrue(Patience.value(interrupted));
  }

  private void waitForInterrupt() {
    try {
      new CountDownLatch(1).await();
    } catch (InterruptedException expected) {
      interrupted.complete(true);
    }
  }
}
