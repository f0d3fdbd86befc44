package io.fibry.engine.cell;

import io.fibry.ActorScope;
import io.fibry.Exitable;

/**
 * A scope as seen by actors that are not its members. They have its options, its accounts and its
 * dead letters, but it neither lists, keeps nor ends them, and several may have the same name.
 */
public final class NonMemberScope extends OwningScope {
  private final OwningScope scope;

  public NonMemberScope(OwningScope scope) {
    super(scope);
    this.scope = scope;
  }

  @Override
  public <T> T intern(T made) {
    return made;
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
  public Accounts accounts() {
    return scope.accounts();
  }

  @Override
  public boolean isTracked(String label) {
    return false;
  }

  @Override
  public void admit(Exitable actor, String label) {}

  @Override
  public Decision decide(Object member, Exitable failed, Throwable failure) {
    return scope.decide(member, failed, failure);
  }

  @Override
  protected void freeName(Exitable actor, String label) {}

  @Override
  protected void forget(Exitable actor, String label) {}
}
