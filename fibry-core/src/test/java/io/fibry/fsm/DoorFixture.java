package io.fibry.fsm;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.FailurePolicy;
import io.fibry.Letters;
import io.fibry.Request;
import io.fibry.Strategy;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Doors as state machines, in a scope with a manual clock. */
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

  static final Duration AWHILE = Duration.ofSeconds(10);

  final Letters letters = new Letters();
  final ManualScheduler clock = new ManualScheduler();
  final List<String> seen = new CopyOnWriteArrayList<>();
  final ActorScope scope;

  DoorFixture(Strategy strategy) {
    scope = ActorSystem.openScope("doors",
        o -> o.withStrategy(strategy).withScheduler(clock).withDeadLetters(letters)
            .withKillGrace(Duration.ofMillis(1)));
  }

  /** Answers {@code Look} in any state, and postpones {@code Lock} while it is open. */
  Fsm<Door, Event> door() {
    return Fsm.of(Door.class, Event.class, new Closed())
        .on(Closed.class, Push.class, (closed, push) -> new Open(push.by()))
        .on(Closed.class, Lock.class, (closed, lock) -> new Locked(lock.code()))
        .on(Locked.class, Unlock.class, (locked, unlock, context) -> {
          boolean fits = locked.code() == unlock.code();
          context.reply(unlock, fits);
          return fits ? new Closed() : locked;
        })
        .on(Door.class, Look.class, (door, look, context) -> {
          context.reply(look, door);
          return door;
        })
        .postpone(Open.class, Lock.class)
        .onTimeout(Open.class, AWHILE, open -> new Closed());
  }

  /** Records the states that it enters and leaves. */
  Fsm<Door, Event> tellingDoor() {
    return door().onEnter(Door.class, door -> seen.add("+" + door)).onLeave(Door.class, door -> seen.add("-" + door));
  }

  Actor<Event> make(Fsm<Door, Event> machine) {
    return machine.newActor(scope.named("door").onFailure(FailurePolicy.resume().withoutLog()));
  }

  @Override
  public void close() {
    scope.closeWithin(Duration.ZERO);
  }
}
