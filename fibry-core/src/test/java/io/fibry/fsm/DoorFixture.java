package io.fibry.fsm;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.FailurePolicy;
import io.fibry.Request;
import io.fibry.Strategy;
import io.fibry.testing.RecordedLetters;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Creates doors as state machines, in a scope with a manual clock. */
final class DoorFixture implements AutoCloseable {
  sealed interface Door {}
  record Closed() implements Door {}
  record Open(String by) implements Door {}
  record Locked(int code) implements Door {}

  sealed interface Event {}
  record Push(String by) implements Event {}
  record Lock(int code) implements Event {}
  record Unlock(int code) implements Event, Request<Unlock, Boolean> {}
  record Look() implements Event, Request<Look, Door> {}

  static final Duration OPEN_TIMEOUT = Duration.ofSeconds(10);

  final RecordedLetters letters = new RecordedLetters();
  final ManualScheduler clock = new ManualScheduler();
  final List<String> records = new CopyOnWriteArrayList<>();
  final ActorScope scope;

  DoorFixture(Strategy strategy) {
    scope = ActorSystem.openScope("doors",
        o -> o.withStrategy(strategy).withScheduler(clock).withDeadLetterListener(letters)
            .withKillGrace(Duration.ofMillis(1)));
  }

  /** Returns a door that answers each {@code Look}, and postpones {@code Lock} while open. */
  Fsm<Door, Event> door() {
    return Fsm.of(Door.class, Event.class, new Closed())
        .on(Closed.class, Push.class, (closed, push) -> new Open(push.by()))
        .on(Closed.class, Lock.class, (closed, lock) -> new Locked(lock.code()))
        .on(Locked.class, Unlock.class, (locked, unlock, context) -> {
          boolean isCodeRight = locked.code() == unlock.code();
          context.reply(unlock, isCodeRight);
          return isCodeRight ? new Closed() : locked;
        })
        .on(Door.class, Look.class, (door, look, context) -> {
          context.reply(look, door);
          return door;
        })
        .postpone(Open.class, Lock.class)
        .onTimeout(Open.class, OPEN_TIMEOUT, open -> new Closed());
  }

  /** Returns a door that records the states that it enters and leaves. */
  Fsm<Door, Event> recordingDoor() {
    return door().onEnter(Door.class, door -> records.add("+" + door)).onLeave(Door.class,
        door -> records.add("-" + door));
  }

  Actor<Event> newDoor(Fsm<Door, Event> machine) {
    return machine.newActor(scope.named("door").onFailure(FailurePolicy.resume().withoutLog()));
  }

  @Override
  public void close() {
    scope.closeWithin(Duration.ZERO);
  }
}
