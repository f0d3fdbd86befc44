package io.fibry.engine.message;

import java.lang.ref.WeakReference;
import java.util.concurrent.CompletableFuture;

/**
 * A stage behind an answer or an end. A handler that waits for the stage waits for that request, so
 * cycles are found. Once the request is answered, the wait is only for code of users. A future made
 * by {@code allOf} or {@code anyOf} is no such stage.
 */
public final class DerivedFuture<R> extends WaitPublishingFuture<R> {
  public interface WaitPublisher {
    /** Returns null if this thread runs no handler, or the answer has arrived. */
    Wait publish(boolean ignoresInterrupts);
  }

  // weak: until the answer arrives, the actor keeps the source; afterwards its value must not be
  // kept
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
    var awaited = isDone() || Wait.WaitingHandler.current() == null ? null : source.get();
    return awaited == null ? null : awaited.publish(ignoresInterrupts);
  }
}
