package io.fibry.engine.scope;

import io.fibry.ExitReason;
import io.fibry.Exitable;
import io.fibry.FailurePolicy;
import io.fibry.engine.cell.Cell;
import io.fibry.engine.cell.FailureHandler;
import io.fibry.engine.cell.OwningScope.Decision;
import io.fibry.engine.cell.OwningScope.Verdict;
import io.fibry.engine.cell.RestartBudget;
import java.util.List;
import java.util.stream.Stream;

/** Decides about failures that reach a scope, on the thread of the actor that failed. */
final class Supervisor {
  private final ScopeState scope;
  private final RestartBudget restartBudget = new RestartBudget();

  Supervisor(ScopeState scope) {
    this.scope = scope;
  }

  /**
   * Decides about a failure. {@code member} is the failed actor, or the inner scope that contains
   * it.
   */
  Decision decide(Object member, Exitable failedActor, Throwable failure) {
    var policy = FailureHandler.resolve(scope.options().failurePolicy(), failure, "scope '" + scope.name() + "'");
    if (policy.kind() == FailurePolicy.Kind.RESUME) return Decision.RESUME;
    if (policy.kind().isRestart()) {
      long pauseNanos = restartBudget.countRestart(policy, scope.options().scheduler());
      if (pauseNanos != RestartBudget.EXCEEDED) return restart(policy, member, failedActor, pauseNanos);
    }
    var parent = scope.parent;
    if (policy.kind() == FailurePolicy.Kind.STOP || parent == null) return stop(member, (Cell) failedActor, failure);
    return parent.decide(scope, failedActor, failure);
  }

  private Decision restart(FailurePolicy policy, Object member, Exitable failedActor, long pauseNanos) {
    List<Object> chosenMembers = switch (policy.kind()) {
      case RESTART_ALL -> scope.members();
      case RESTART_FROM_FAILED -> membersToRestart(member, failedActor);
      default -> isBlockScope(member) ? List.of() : List.of(member);
    };
    for (var chosenMember : chosenMembers)
      for (var cell : ScopeState.cells(chosenMember)) if (cell != failedActor) cell.requestRestart(pauseNanos);
    return new Decision(Verdict.RESTART, pauseNanos);
  }

  /**
   * Returns the member and the members made after it. If the member is the inner scope of a block,
   * the result has the failed actor and the younger members of the inner scope in its place.
   */
  private List<Object> membersToRestart(Object member, Exitable failedActor) {
    var members = scope.membersFrom(member);
    if (!isBlockScope(member) || members.isEmpty()) return members;
    return Stream.concat(((ScopeState) member).membersFrom(failedActor).stream(), members.stream().skip(1)).toList();
  }

  /**
   * Returns whether the member is the inner scope of a block. If so, only an actor in this scope
   * has failed, not the whole scope.
   */
  private static boolean isBlockScope(Object member) {
    return member instanceof ScopeState innerScope && innerScope.isBlockScope();
  }

  /**
   * Closes the scope on another thread. The root scope stays open; only the failed actor or inner
   * scope ends. The failed actor gets its exit reason first, because the close also sets a reason,
   * and the first reason stays.
   */
  private Decision stop(Object member, Cell failedActor, Throwable failure) {
    failedActor.extras().setReason(new ExitReason.Failed(failure));
    if (scope.parent != null) scope.closeOffThread();
    else if (member instanceof ScopeState innerScope && !isBlockScope(member)) innerScope.closeOffThread();
    return Decision.STOP;
  }
}
