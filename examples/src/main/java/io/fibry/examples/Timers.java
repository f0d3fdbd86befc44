package io.fibry.examples;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorSystem;
import java.time.Duration;

/** Messages sent later, or periodically. A timer replaces an earlier one with its key. */
class Timers {
  sealed interface Session {}
  record Tick() implements Session {}
  record Idle() implements Session {}

  private int ticks;

  void handle(Session message, ActorContext<Session> context) {
    switch (message) {
      case Tick t when ticks == 3 -> {} // it was already in the mailbox
      case Tick t -> {
        System.out.println("tick " + ++ticks);
        if (ticks == 3) context.self().sendMessageLater("timer", new Idle(), Duration.ofMillis(100));
      }
      case Idle i -> {
        System.out.println("idle: good bye");
        context.self().askExit(); // its timers end with it
      }
    }
  }

  public static void main(String[] args) {
    Actor<Session> session = ActorSystem.named("session").initialState(Timers::new).newActor(Timers::handle);
    session.sendMessageEvery("timer", new Tick(), Duration.ofMillis(50));

    session.waitForExit();
  }
}
