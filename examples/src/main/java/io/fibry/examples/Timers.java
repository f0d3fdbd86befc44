package io.fibry.examples;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorSystem;
import java.time.Duration;

/** Sends messages later, or periodically. A timer replaces the earlier timer with the same key. */
class Timers {
  sealed interface Session {}
  record Tick() implements Session {}
  record Idle() implements Session {}

  private int ticks;

  void handle(Session message, ActorContext<Session> context) {
    switch (message) {
      case Tick tick when ticks == 3 -> {} // was already in the mailbox when the timer was replaced
      case Tick tick -> {
        System.out.println("tick " + ++ticks);
        if (ticks == 3) context.self().sendMessageLater("timer", new Idle(), Duration.ofMillis(100));
      }
      case Idle idle -> {
        System.out.println("idle: good bye");
        context.self().askExit(); // the actor's timers end with it
      }
    }
  }

  public static void main(String[] args) {
    Actor<Session> session = ActorSystem.named("session").initialState(Timers::new).newActor(Timers::handle);
    session.sendMessageEvery("timer", new Tick(), Duration.ofMillis(50));

    session.waitForExit();
  }
}
