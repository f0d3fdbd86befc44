package io.fibry.engine.jvm;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.Actor;
import io.fibry.ActorSystem;
import io.fibry.AskTimeoutException;
import io.fibry.support.Child;
import io.fibry.support.Patience;
import io.fibry.testing.Promise;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/**
 * Tests that messages from other threads and from timers are handled while fibers that send to each
 * other keep every carrier busy. The JDK alone would not start these handlers (seen on Java 25).
 */
class BusyCarriersJvmTest {

  /**
   * Starts pairs of actors that never release the carriers. The main thread then uses other actors,
   * a timer, a limit and a scope, and prints a line after each success.
   */
  static final class BusyProgram {
    private Actor<Integer> actor;

    public static void main(String[] args) {
      for (int pair = 0; pair < 4; pair++) {
        var ping = new BusyProgram();
        var pong = new BusyProgram();
        ping.actor = ActorSystem.anonymous().newActor((Integer n) -> pong.actor.sendMessage(n + 1));
        pong.actor = ActorSystem.anonymous().newActor((Integer n) -> ping.actor.sendMessage(n + 1));
        ping.actor.sendMessage(0);
      }
      var square = ActorSystem.anonymous().newActorWithReturn((Integer n) -> n * n);
      System.out.println("asked from main: " + square.ask(7, Patience.LONG));

      var tickHandled = new CountDownLatch(1);
      ActorSystem.anonymous().newActor((String tick) -> tickHandled.countDown())
          .sendMessageLater("tick", Duration.ofMillis(5));
      Patience.await(tickHandled);
      System.out.println("a timer");

      var silentActor = ActorSystem.anonymous().newActorWithReturn((String message) -> {
        new CountDownLatch(1).await();
        return message;
      });
      try {
        silentActor.ask("never answered", Duration.ofMillis(50));
      } catch (AskTimeoutException e) {
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
  void mainThreadGetsAnswerAndTimersRunWhileCarriersAreBusy() throws Exception {
    try (var child = Child.java(List.of("-XX:ActiveProcessorCount=1"), BusyProgram.class)) {
      assertEquals("asked from main: 49\na timer\na limit: over\na scope: []", child.awaitExit(0));
    }
  }
}
