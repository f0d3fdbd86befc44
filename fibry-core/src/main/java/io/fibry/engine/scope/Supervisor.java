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
  private final RestartBudget restarts = new RestartBudget();

  Supervisor(ScopeState scope) {
    this.scope = scope;
  }

  /** {@code member}: the failed actor, or its scope below. */
  Decision decide(Object member, Exitable failed, Throwable failure) {
    var policy = FailureHandler.resolve(scope.options().failurePolicy(), failure, "scope '" + scope.name() + "'");
    if (policy.kind() == FailurePolicy.Kind.RESUME) return Decision.RESUME;
    if (policy.kind().isRestart()) {
      long pause = restarts.next(policy, scope.options().scheduler().nanoTime());
      if (pause != RestartBudget.EXCEEDED) return restart(policy, member, failed, pause);
    }
    var around = scope.parent;
    if (policy.kind() == FailurePolicy.Kind.STOP || around == null) return end(member, (Cell) failed, failure);
    return around.decide(scope, failed, failure);
  }

  private Decision restart(FailurePolicy policy, Object member, Exitable failed, long pause) {
    List<Object> chosen = switch (policy.kind()) {
      case RESTART_ALL -> scope.members();
      case RESTART_FROM_FAILED -> membersToRestart(member, failed);
      default -> isBlockScope(member) ? List.of() : List.of(member);
    };
    for (var one : chosen) for (var cell : ScopeState.cells(one)) if (cell != failed) cell.requestRestart(pause);
    return new Decision(Verdict.RESTART, pause);
  }

  /**
   * Returns the member and the members made after it; for an inner scope of a block, those made
   * from the failed actor on.
   */
  private List<Object> membersToRestart(Object member, Exitable failed) {
    var rest = scope.membersFrom(member);
    if (!isBlockScope(member) || rest.isEmpty()) return rest;
    return Stream.concat(((ScopeState) member).membersFrom(failed).stream(), rest.stream().skip(1)).toList();
  }

  /** A part is not treated as one: it stands for the actor in it that failed. */
  private static boolean isBlockScope(Object member) {
    return member instanceof ScopeState below && below.isBlockScope();
  }

  /**
   * Closes the scope, on a fiber; the root stays open and ends what failed. A close gives reasons
   * too, so the failed actor gets its own first.
   */
  private Decision end(Object member, Cell failed, Throwable failure) {
    failed.extras().setReason(new ExitReason.Failed(failure));
    if (scope.parent != null) scope.closeOffThread();
    else if (member instanceof ScopeState below && !isBlockScope(member)) below.closeOffThread();
    return Decision.STOP;
  }
}
