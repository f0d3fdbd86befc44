package io.fibry;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * A block, perhaps your own, that has an actor in front: its name, its life and its end are those
 * of the actor.
 *
 * @param <B> the block's own type
 */
public abstract class Fronted<B extends Exitable> implements Exitable {

  /** For a block. */
  protected Fronted() {}

  /** {@return the actor in front} */
  protected abstract Exitable front();

  @Override
  public String name() {
    return front().name();
  }

  @Override
  public void askExit() {
    front().askExit();
  }

  @Override
  public void sendPoisonPill() {
    front().sendPoisonPill();
  }

  @Override
  public void kill() {
    front().kill();
  }

  @Override
  public void waitForExit() {
    front().waitForExit();
  }

  @Override
  public boolean waitForExit(Duration limit) {
    return front().waitForExit(limit);
  }

  @Override
  public CompletableFuture<ExitReason> onExit() {
    return front().onExit();
  }

  @Override
  @SuppressWarnings("unchecked") // the block is a B
  public B closeOnExit(AutoCloseable... resources) {
    front().closeOnExit(resources);
    return (B) this;
  }

  @Override
  public void close() {
    front().close();
  }
}
