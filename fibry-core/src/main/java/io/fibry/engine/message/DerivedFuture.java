package io.fibry.engine.message;

import java.lang.ref.WeakReference;
import java.util.concurrent.CompletableFuture;

/**
 * A stage behind an answer or an end. A handler that waits for the stage waits for that, so rings
 * are found; once it is there, only code of users is waited for. What is made by {@code allOf} or
 * {@code anyOf} is none of these.
 */
public final class DerivedFuture<R> extends WaitedFuture<R> {
  public interface Source {
    /** Null: no handler waits, or it is there. */
    Wait publish(boolean deaf);
  }

  // weak: while it is not there, its actor keeps it; then its value must not be kept
  private final WeakReference<Source> source;

  public DerivedFuture(Source source) {
    this(new WeakReference<>(source));
  }

  private DerivedFuture(WeakReference<Source> source) {
    this.source = source;
  }

  @Override
  public <U> CompletableFuture<U> newIncompleteFuture() {
    return new DerivedFuture<>(source);
  }

  @Override
  public Wait publish(boolean deaf) {
    var awaited = isDone() || Wait.Waiter.current() == null ? null : source.get();
    return awaited == null ? null : awaited.publish(deaf);
  }
}
