package io.fibry;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.engine.cell.ActorInternals;
import io.fibry.support.Patience;
import io.fibry.testing.Promise;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Tests a handler that is a method of the JDK, so its stack has no frame of user code. */
class JdkHandlerTest {

  @Promise("4.17")
  @Test
  void timeoutTextShowsStackOfHandlerThatIsJdkMethod() {
    try (var scope = ActorSystem.openScope("foreign")) {
      ActorWithReturn<CompletableFuture<String>, String> actor =
          scope.anonymous().strategy(Strategy.THREAD).newActorWithReturn(CompletableFuture::join);
      var awaitedFuture = new CompletableFuture<String>();
      actor.sendMessage(awaitedFuture);
      Patience.eventually(() -> awaitedFuture.getNumberOfDependents() == 1);
      Patience.awaitParked(ActorInternals.thread(actor));

      String text = assertThrows(AskTimeoutException.class,
          () -> actor.ask(new CompletableFuture<>(), Duration.ofMillis(1))).getMessage();

      assertTrue(text.contains(". The handler is at java.base/jdk.internal.misc.Unsafe.park("), text);
      assertTrue(text.contains(" < java.base/java.util.concurrent.locks.LockSupport.park("), text);
      awaitedFuture.complete("x");
      actor.kill();
    }
  }
}
