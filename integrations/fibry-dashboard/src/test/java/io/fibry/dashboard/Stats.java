package io.fibry.dashboard;

import io.fibry.ActorStats;
import io.fibry.ActorStats.ActorState;
import io.fibry.mailbox.Overflow;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** Makes statistics of an actor as a test needs them; by default of an actor that did nothing. */
final class Stats {
  private final String name;
  private List<String> scopes = List.of("app");
  private String kind = "FIBER";
  private long queued;
  private Duration oldestWaiting = Duration.ZERO;
  private long handled;
  private long failed;
  private long refused;
  private long dropped;
  private long expired;
  private ActorState state = ActorState.IDLE;
  private Optional<String> awaited = Optional.empty();
  private Optional<String> messageType = Optional.empty();
  private String activity = "a text that may contain a message";
  private int busyWorkers;
  private int maxWorkers;
  private Duration busyFor = Duration.ZERO;
  private OptionalInt capacity = OptionalInt.empty();
  private List<StackTraceElement> stack = List.of();

  private Stats(String name) {
    this.name = name;
  }

  static Stats of(String name) {
    return new Stats(name);
  }

  Stats inScope(String scope) {
    this.scopes = List.of("app", scope);
    return this;
  }

  Stats withKind(String kind) {
    this.kind = kind;
    return this;
  }

  Stats withQueued(long queued) {
    this.queued = queued;
    return this;
  }

  Stats withOldestWaiting(Duration oldestWaiting) {
    this.oldestWaiting = oldestWaiting;
    return this;
  }

  Stats withHandled(long handled) {
    this.handled = handled;
    return this;
  }

  Stats withFailed(long failed) {
    this.failed = failed;
    return this;
  }

  Stats withRefused(long refused) {
    this.refused = refused;
    return this;
  }

  Stats withDropped(long dropped) {
    this.dropped = dropped;
    return this;
  }

  Stats withExpired(long expired) {
    this.expired = expired;
    return this;
  }

  Stats withState(ActorState state) {
    this.state = state;
    return this;
  }

  Stats awaiting(String actor) {
    this.awaited = Optional.of(actor);
    return withState(ActorState.AWAITING_ACTOR);
  }

  Stats withWorkers(int busyWorkers, int maxWorkers) {
    this.busyWorkers = busyWorkers;
    this.maxWorkers = maxWorkers;
    this.activity = busyWorkers + " of " + maxWorkers + " at work";
    return this;
  }

  Stats withMessageType(String type) {
    this.messageType = Optional.of(type);
    return this;
  }

  Stats withBusyFor(Duration busyFor) {
    this.busyFor = busyFor;
    return this;
  }

  Stats withCapacity(int capacity) {
    this.capacity = OptionalInt.of(capacity);
    return this;
  }

  /** @param type the class of the newest call */
  Stats at(String type) {
    this.stack = List.of(new StackTraceElement(type, "call", type + ".java", 1));
    return this;
  }

  ActorStats get() {
    return new ActorStats(scopes, name, kind, queued, oldestWaiting, handled, failed, state, awaited,
        busyWorkers, busyWorkers, maxWorkers, activity, messageType, busyFor, true, capacity,
        capacity.isPresent() ? Optional.of(Overflow.REJECT) : Optional.empty(), refused, dropped, expired, 0, stack,
        Optional.empty());
  }
}
