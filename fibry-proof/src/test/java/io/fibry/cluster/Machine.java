package io.fibry.cluster;

import io.fibry.ActorScope;
import io.fibry.simulation.Node;
import java.time.Duration;

/** What a node of a cluster runs on: it can crash, stand still, and be cut off from the network. */
final class Machine {
  private final Node node;
  private final ActorScope scope;
  private boolean crashed;
  private long cutUntil;

  /** @param scope of that node */
  Machine(Node node, ActorScope scope) {
    this.node = node;
    this.scope = scope;
  }

  String name() {
    return node.name();
  }

  Node node() {
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
    if (!crashed) node.pause(time);
  }

  /** The longest of several cuts counts. */
  void cut(Duration time) {
    cutUntil = Math.max(cutUntil, System.nanoTime() + time.toNanos());
  }

  void heal() {
    cutUntil = System.nanoTime();
  }

  boolean isCrashed() {
    return crashed;
  }

  /** What it has just sent is lost, too. */
  boolean isCut() {
    return crashed || cutUntil - System.nanoTime() > 0;
  }

  /** In nanoseconds. */
  long untilHealed() {
    return Math.max(0, cutUntil - System.nanoTime());
  }
}
