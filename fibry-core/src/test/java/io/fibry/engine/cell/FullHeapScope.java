package io.fibry.engine.cell;

import io.fibry.ActorScope;
import io.fibry.Exitable;
import io.fibry.testing.Variants;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A scope that throws an OutOfMemoryError when it decides about a failure, and another one when the
 * engine then counts the messages that the drain has handled.
 */
public final class FullHeapScope extends OwningScope {
  /** The number of the next calls of {@code accounts} that throw an OutOfMemoryError. */
  public final AtomicInteger accountFaults = new AtomicInteger();
  private final OwningScope scope = (OwningScope) Variants.scope(o -> o);

  @Override
  public Decision decide(Object member, Exitable failed, Throwable failure) {
    accountFaults.set(1);
    throw new OutOfMemoryError("planned, in the decision");
  }

  @Override
  public Accounts accounts() {
    if (accountFaults.getAndUpdate(faults -> Math.max(0, faults - 1)) > 0)
      throw new OutOfMemoryError("planned, in the accounts");
    return scope.accounts();
  }

  @Override
  protected String name() {
    return scope.name();
  }

  @Override
  public ActorScope scope() {
    return scope.scope();
  }

  @Override
  public OwningScope openBlockScope(String kind, String label) {
    return scope.openBlockScope(kind, label);
  }

  @Override
  public ActorScope.Options options() {
    return scope.options();
  }

  @Override
  public boolean isMember(String label) {
    return false;
  }

  @Override
  public void admit(Exitable actor, String label) {}

  @Override
  protected void freeName(Exitable actor, String label) {}

  @Override
  protected void forget(Exitable actor, String label) {}
}
