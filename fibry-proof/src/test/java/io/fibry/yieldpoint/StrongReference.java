package io.fibry.yieldpoint;

import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;

/** A weak reference that is never cleared, because it also refers to its object strongly. */
public class StrongReference<T> extends WeakReference<T> {
  @SuppressWarnings("unused") // keeps the object in memory
  private final T strong;

  public StrongReference(T object) {
    super(object);
    this.strong = object;
  }

  /** Never adds the reference to the queue. */
  public StrongReference(T object, ReferenceQueue<? super T> queue) {
    super(object, queue);
    this.strong = object;
  }
}
