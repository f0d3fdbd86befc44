package io.fibry.examples;

import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.fsm.Fsm;
import java.time.Duration;

/**
 * A state machine: states and events are sealed types, a table lists the transitions. A postponed
 * event waits for the next state.
 */
class Door {
  sealed interface State {}
  record Closed() implements State {}
  record Open(String by) implements State {}
  record Locked(int code) implements State {}

  sealed interface Event {}
  record Push(String by) implements Event {}
  record Lock(int code) implements Event {}
  record Unlock(int code) implements Event, Request<Unlock, Boolean> {}

  static final Fsm<State, Event> MACHINE = Fsm.of(State.class, Event.class, new Closed())
      .on(Closed.class, Push.class, (closed, push) -> new Open(push.by()))
      .on(Closed.class, Lock.class, (closed, lock) -> new Locked(lock.code()))
      .on(Locked.class, Unlock.class, (locked, unlock, context) -> {
        boolean isRight = locked.code() == unlock.code();
        context.reply(unlock, isRight);
        return isRight ? new Closed() : locked; // the same object: no transition
      })
      .postpone(Open.class, Lock.class)
      .postpone(Open.class, Unlock.class)
      .onTimeout(Open.class, Duration.ofMillis(100), open -> new Closed())
      .onEnter(Open.class, open -> System.out.println(open.by() + " came in"))
      .onLeave(Open.class, open -> System.out.println("the door fell shut behind " + open.by()));

  public static void main(String[] args) {
    var door = MACHINE.newActor(ActorSystem.named("door"));

    door.sendMessage(new Push("Ada"));
    door.sendMessage(new Lock(1234)); // postponed until the door has fallen shut

    System.out.println("opens with 1111: " + door.ask(new Unlock(1111)));
    System.out.println("opens with 1234: " + door.ask(new Unlock(1234)));
  }
}
