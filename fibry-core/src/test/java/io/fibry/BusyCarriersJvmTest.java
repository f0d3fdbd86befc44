package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.support.Child;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/**
 * Fibers that send to each other keep every carrier busy. Messages from other threads and from
 * timers must still be handled; the JDK alone would not start them (seen on 25).
 */
class BusyCarriersJvmTest {

  /** Pairs of actors that never release the carriers, and other threads that need one. */
  static final class Busy {
    private Actor<Integer> other;

    public static void main(String[] args) {
      for (int pair = 0; pair < 4; pair++) {
        var ping = new Busy();
        var pong = new Busy();
        ping.other = ActorSystem.anonymous().newActor((Integer n) -> pong.other.sendMessage(n + 1));
        pong.other = ActorSystem.anonymous().newActor((Integer n) -> ping.other.sendMessage(n + 1));
        ping.other.sendMessage(0);
      }
      var square = ActorSystem.anonymous().newActorWithReturn((Integer n) -> n * n);
      System.out.println("asked from main: " + square.ask(7, Patience.LONG));

      var due = new CountDownLatch(1);
      ActorSystem.anonymous().newActor((String tick) -> due.countDown()).sendMessageLater("tick", Duration.ofMillis(5));
      Patience.await(due);
      System.out.println("a timer");

      var late = ActorSystem.anonymous().newActorWithReturn((String message) -> {
        new CountDownLatch(1).await();
        return message;
      });
      try {
        late.ask("never answered", Duration.ofMillis(50));
      } catch (AskTimeoutException over) {
        System.out.println("a limit: over");
      }

      var scope = ActorSystem.openScope("idle");
      scope.named("member").newActor((Integer n) -> {});
      System.out.println("a scope: " + scope.closeWithin(Patience.LONG).unresponsive());
      System.exit(0);
    }
  }

  @Promise("6.10")
  @Test
  void platformThreadsAndTimersAreServedWhileCarriersAreBusy() throws Exception {
    try (var child = Child.java(List.of("-XX:ActiveProcessorCount=1"), Busy.class)) {
      assertEquals("asked from main: 49\na timer\na limit: over\na scope: []", child.ended(0));
    }
  }
}
