package io.fibry.engine.message;

import java.lang.ref.WeakReference;
import java.util.concurrent.CompletableFuture;

/**
 * A stage that was chained to the future of an answer or of an actor's end. A handler that waits
 * for the stage publishes a wait for the actor of that answer or end, so that cycles are found.
 * Once the answer has arrived or the actor has ended, the stage waits only for users' code, and no
 * wait is published. Futures made by {@code allOf} or {@code anyOf} publish no waits.
 */
public final class DerivedFuture<R> extends WaitPublishingFuture<R> {
  public interface WaitPublisher {
    /**
     * Publishes that the handler on this thread waits. Returns null if this thread runs no handler,
     * or the answer has arrived.
     */
    Wait publish(boolean ignoresInterrupts);
  }

  // the future to which this stage is chained; weak, because this stage must not keep the answer in
  // memory. Until the answer arrives, the actor keeps that future in memory
  private final WeakReference<WaitPublisher> source;

  public DerivedFuture(WaitPublisher source) {
    this(new WeakReference<>(source));
  }

  private DerivedFuture(WeakReference<WaitPublisher> source) {
    this.source = source;
  }

  @Override
  public <U> CompletableFuture<U> newIncompleteFuture() {
    return new DerivedFuture<>(source);
  }

  @Override
  public Wait publish(boolean ignoresInterrupts) {
    var publisher = isDone() || Wait.WaitingHandler.current() == null ? null : source.get();
    return publisher == null ? null : publisher.publish(ignoresInterrupts);
  }
}
