package io.fibry.cluster;

import io.fibry.ActorScope;
import io.fibry.simulation.SimulatedNode;
import java.time.Duration;

/** The machine of a cluster's node: it can crash, be paused, and be cut off from the network. */
final class Machine {
  private final SimulatedNode node;
  private final ActorScope scope;
  private boolean isCrashed;
  private long cutUntil;
  private long notificationTime;
  private long pausedUntil;
  private long totalPause;

  /** @param scope a scope on the node */
  Machine(SimulatedNode node, ActorScope scope) {
    this.node = node;
    this.scope = scope;
  }

  String name() {
    return node.name();
  }

  SimulatedNode node() {
    return node;
  }

  ActorScope scope() {
    return scope;
  }

  void crash() {
    isCrashed = true;
    node.crash();
  }

  void pause(Duration time) {
    if (isCrashed) return;
    long now = System.nanoTime();
    long end = Math.max(pausedUntil, now + time.toNanos());
    totalPause += end - Math.max(pausedUntil, now);
    pausedUntil = end;
    node.freeze(time);
  }

  /** {@return the duration of all pauses so far, including the current pause, in nanoseconds} */
  long totalPause() {
    return totalPause;
  }

  /** Cuts the machine off from the network, until the last of all cuts is over. */
  void cut(Duration time) {
    cutUntil = Math.max(cutUntil, System.nanoTime() + time.toNanos());
  }

  void heal() {
    cutUntil = System.nanoTime();
    notificationTime = cutUntil;
  }

  boolean isCrashed() {
    return isCrashed;
  }

  /** Returns whether the machine is cut off. Its messages that are in flight are then lost, too. */
  boolean isCut() {
    return isCrashed || cutUntil - System.nanoTime() > 0;
  }

  /** Delays notifications of table changes to this machine by at least this time. */
  void delayNotifications(Duration time) {
    notificationTime = Math.max(notificationTime, System.nanoTime() + time.toNanos());
  }

  /** {@return the time in nanoseconds until notifications of table changes can arrive here} */
  long timeUntilNotifications() {
    return Math.max(notificationTime, cutUntil) - System.nanoTime();
  }
}
