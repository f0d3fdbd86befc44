package io.fibry.cluster;

import io.fibry.ActorScope;
import io.fibry.simulation.SimulatedNode;
import java.time.Duration;

/** The machine of a cluster's node: it can crash, be paused, and be cut off from the network. */
final class Machine {
  private final SimulatedNode node;
  private final ActorScope scope;
  private boolean crashed;
  private long cutUntil;
  private long newsFrom;
  private long pausedUntil;
  private long paused;

  /** @param scope of that node */
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
    crashed = true;
    node.crash();
  }

  void pause(Duration time) {
    if (crashed) return;
    long now = System.nanoTime();
    long end = Math.max(pausedUntil, now + time.toNanos());
    paused += end - Math.max(pausedUntil, now);
    pausedUntil = end;
    node.freeze(time);
  }

  /** {@return how long all pauses so far take, also the current one, in nanoseconds} */
  long paused() {
    return paused;
  }

  /** The longest of several cuts counts. */
  void cut(Duration time) {
    cutUntil = Math.max(cutUntil, System.nanoTime() + time.toNanos());
  }

  void heal() {
    cutUntil = System.nanoTime();
    newsFrom = cutUntil;
  }

  boolean isCrashed() {
    return crashed;
  }

  /** Messages that it has just sent are lost, too. */
  boolean isCut() {
    return crashed || cutUntil - System.nanoTime() > 0;
  }

  /** No news of the table get here before. */
  void delayNews(Duration time) {
    newsFrom = Math.max(newsFrom, System.nanoTime() + time.toNanos());
  }

  /** {@return how long no news get here, in nanoseconds} */
  long untilNews() {
    return Math.max(newsFrom, cutUntil) - System.nanoTime();
  }
}
