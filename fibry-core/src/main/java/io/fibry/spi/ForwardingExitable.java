package io.fibry.spi;

import io.fibry.ExitReason;
import io.fibry.Exitable;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * Base class of blocks, including your own, that forward the methods of {@link Exitable} to one
 * actor. The block has the name of this actor, and ends with it.
 *
 * @param <B> the type of the block itself
 */
public abstract class ForwardingExitable<B extends Exitable> implements Exitable {

  /** Called by the constructor of the block. */
  protected ForwardingExitable() {}

  /** {@return the actor that this block forwards to} */
  protected abstract Exitable target();

  /**
   * {@return the actor that a block forwards to}
   *
   * @param block a block
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
  @SuppressWarnings("unchecked") // B is the type of the block itself
  public B closeOnExit(AutoCloseable... resources) {
    target().closeOnExit(resources);
    return (B) this;
  }

  @Override
  public void close() {
    target().close();
  }
}
