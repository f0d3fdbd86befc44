package io.fibry.engine.cell;

import io.fibry.ActorScope;
import io.fibry.Exitable;
import java.time.Instant;

/**
 * A scope as seen by actors that are not its members. Such actors have the options, the accounts
 * and the dead letters of the scope. The scope neither lists nor ends them, does not keep them in
 * memory, and accepts several actors with the same name.
 */
public class NonMemberScope extends OwningScope {
  private final OwningScope scope;

  public NonMemberScope(OwningScope scope) {
    super(scope);
    this.scope = scope;
  }

  @Override
  public <T> T intern(T value) {
    return value;
  }

  /** Keeps nothing, because no statistics list the actor. */
  @Override
  void keepFailure(String actor, Throwable failure, Instant time) {}

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
  public boolean isMember(String label) {
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
