package io.fibry.yieldpoint;

import java.lang.ref.WeakReference;

/** A weak reference that is never cleared, because it also refers to its object strongly. */
public final class StrongReference<T> extends WeakReference<T> {
  @SuppressWarnings("unused") // keeps the object in memory
  private final T strong;

  public StrongReference(T object) {
    super(object);
    this.strong = object;
  }
}
