package io.fibry.dashboard;

import io.fibry.ActorStats;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;

/** Makes statistics of an actor as a test needs them; by default of an actor that did nothing. */
final class Stats {
  private final String name;
  private String kind = "FIBER";
  private long queued;
  private long handled;
  private long failed;
  private long refused;
  private String activity = "idle";
  private Duration busyFor = Duration.ZERO;
  private OptionalInt capacity = OptionalInt.empty();

  private Stats(String name) {
    this.name = name;
  }

  static Stats of(String name) {
    return new Stats(name);
  }

  Stats withKind(String kind) {
    this.kind = kind;
    return this;
  }

  Stats withQueued(long queued) {
    this.queued = queued;
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

  Stats withActivity(String activity) {
    this.activity = activity;
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

  ActorStats get() {
    return new ActorStats(List.of("app"), name, kind, queued, handled, failed, activity, busyFor, true, capacity,
        refused, List.of());
  }
}
