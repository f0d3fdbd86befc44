package io.fibry.engine.scope;

import io.fibry.ExitReason;
import io.fibry.FailurePolicy;
import io.fibry.engine.actor.ActorCell;
import io.fibry.engine.cell.RestartBudget;
import io.fibry.engine.jvm.Threads;
import java.util.List;

/**
 * Decides for a scope what becomes of a failure that reached it. Runs on the thread of the actor
 * that failed, in its turn.
 */
public final class Supervisor {
  /** What the actor that failed does now. */
  public enum Verdict { GO_ON, RESTART, STOP }

  /** And how long it waits before that, in nanoseconds. */
  public record Decision(Verdict verdict, long pause) {
    public static final Decision GO_ON = new Decision(Verdict.GO_ON, 0);
    public static final Decision STOP = new Decision(Verdict.STOP, 0);
  }

  private final Scope scope;
  private final RestartBudget restarts = new RestartBudget();

  public Supervisor(Scope scope) {
    this.scope = scope;
  }

  /** What becomes of a member, the actor itself or a scope below that it failed in. */
  public Decision decide(Object member, ActorCell failed, Throwable failure) {
    var policy = scope.options().policy.chosen(failure, "scope '" + scope.name() + "'");
    if (policy.kind == FailurePolicy.Kind.GO_ON) return Decision.GO_ON;
    if (policy.kind.restarts()) {
      long pause = restarts.next(policy, scope.options().scheduler.nanoTime());
      if (pause != RestartBudget.OVER_BUDGET) return restart(policy, member, failed, pause);
    }
    var around = scope.around();
    if (policy.kind == FailurePolicy.Kind.STOP || around == null) return end(member, failed, failure);
    return around.supervisor().decide(scope, failed, failure);
  }

  private Decision restart(FailurePolicy policy, Object member, ActorCell failed, long pause) {
    List<Object> chosen = switch (policy.kind) {
      case RESTART_ALL -> scope.members();
      case RESTART_REST -> scope.membersFrom(member);
      default -> List.of(member);
    };
    for (var one : chosen) for (var cell : Scope.cells(one)) if (cell != failed) cell.askRestart(pause);
    return new Decision(Verdict.RESTART, pause);
  }

  /**
   * The scope closes, on a thread of its own; the root, which stays open, ends what failed. The
   * closer gives reasons too, so the one that failed has its own first.
   */
  private Decision end(Object member, ActorCell failed, Throwable failure) {
    failed.rich().because(new ExitReason.Failed(failure));
    if (scope.around() != null) Threads.FIBER.activate(scope::close);
    else if (member instanceof Scope below) Threads.FIBER.activate(below::close);
    return Decision.STOP;
  }
}
