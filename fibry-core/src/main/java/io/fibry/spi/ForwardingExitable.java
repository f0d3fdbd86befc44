package io.fibry.spi;

import io.fibry.ExitReason;
import io.fibry.Exitable;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * A block, perhaps your own, that has an actor in front: its name, its life and its end are those
 * of the actor.
 *
 * @param <B> the block's own type
 */
public abstract class ForwardingExitable<B extends Exitable> implements Exitable {

  /** For a block. */
  protected ForwardingExitable() {}

  /** {@return the actor in front} */
  protected abstract Exitable target();

  /**
   * {@return the actor that a block forwards to}
   *
   * @param block the block
   */
  public static Exitable targetOf(ForwardingExitable<?> block) {
    return block.target();
  }

  @Override
  public String name() {
    return target().name();
  }

  @Override
  public void askExit() {
    target().askExit();
  }

  @Override
  public void sendPoisonPill() {
    target().sendPoisonPill();
  }

  @Override
  public void kill() {
    target().kill();
  }

  @Override
  public void waitForExit() {
    target().waitForExit();
  }

  @Override
  public boolean waitForExit(Duration limit) {
    return target().waitForExit(limit);
  }

  @Override
  public CompletableFuture<ExitReason> onExit() {
    return target().onExit();
  }

  @Override
  @SuppressWarnings("unchecked") // the block is a B
  public B closeOnExit(AutoCloseable... resources) {
    target().closeOnExit(resources);
    return (B) this;
  }

  @Override
  public void close() {
    target().close();
  }
}
