package io.fibry.engine.cell;

import io.fibry.Exitable;
import io.fibry.testing.Variants;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A scope that throws an OutOfMemoryError when it decides about a failure, and another one when the
 * engine then counts the messages that the drain has handled.
 */
public final class FullHeapScope extends NonMemberScope {
  /** The number of the next calls of {@code accounts} that throw an OutOfMemoryError. */
  public final AtomicInteger accountFaults = new AtomicInteger();

  public FullHeapScope() {
    super((OwningScope) Variants.scope(o -> o));
  }

  @Override
  public Decision decide(Object member, Exitable failed, Throwable failure) {
    accountFaults.set(1);
    throw new OutOfMemoryError("planned, in the decision");
  }

  @Override
  public Accounts accounts() {
    if (accountFaults.getAndUpdate(faults -> Math.max(0, faults - 1)) > 0)
      throw new OutOfMemoryError("planned, in the accounts");
    return super.accounts();
  }
}
