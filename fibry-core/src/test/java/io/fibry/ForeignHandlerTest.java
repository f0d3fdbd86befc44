package io.fibry;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.engine.cell.Inside;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** A handler that is a method of the JDK: no frame on its stack is the user's. */
class ForeignHandlerTest {

  @Promise("4.17")
  @Test
  void timeoutShowsStackOfJdkHandlerFromTop() {
    try (var scope = ActorSystem.openScope("foreign")) {
      ActorWithReturn<CompletableFuture<String>, String> actor =
          scope.anonymous().strategy(Strategy.THREAD).newActorWithReturn(CompletableFuture::join);
      var stuck = new CompletableFuture<String>();
      actor.sendMessage(stuck);
      Patience.eventually(() -> stuck.getNumberOfDependents() == 1);
      Patience.parked(Inside.thread(actor));

      String text = assertThrows(AskTimeoutException.class,
          () -> actor.ask(new CompletableFuture<>(), Duration.ofMillis(1))).getMessage();

      assertTrue(text.contains(". The handler is at java.base/jdk.internal.misc.Unsafe.park("), text);
      assertTrue(text.contains(" < java.base/java.util.concurrent.locks.LockSupport.park("), text);
      stuck.complete("x");
      actor.kill();
    }
  }
}
