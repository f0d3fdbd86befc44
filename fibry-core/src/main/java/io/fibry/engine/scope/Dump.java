package io.fibry.engine.scope;

import io.fibry.engine.actor.ActorCell;
import io.fibry.engine.actor.PoolCell;
import io.fibry.engine.cell.Snapshot;
import java.util.Locale;

/**
 * A scope and all below it as text, one line each. What it says of an actor at work may be over
 * while it is written.
 */
public final class Dump {
  private static final int COUNTED = 100_000;

  private final StringBuilder text = new StringBuilder();

  private Dump() {}

  public static String of(Scope scope) {
    var dump = new Dump();
    dump.add(scope, "");
    return dump.text.toString();
  }

  private void add(Scope scope, String indent) {
    var members = scope.members();
    var report = scope.report();
    text.append(indent).append("scope '").append(scope.name()).append("'").append(scope.isClosing() ? ", closing" : "")
        .append(": ").append(report.handled()).append(" handled");
    report.unhandled().forEach((reason, count) -> {
      if (count > 0) text.append(", ").append(count).append(' ').append(reason.name().toLowerCase(Locale.ROOT));
    });
    text.append(", ").append(report.waiting()).append(" waiting\n");
    for (var member : members) {
      if (member instanceof Scope below) add(below, indent + "  ");
      else add((ActorCell) member, indent + "  ");
    }
  }

  private void add(PoolCell pool, String indent) {
    text.append(indent).append(pool.name()).append(" (").append(pool.workers());
    addCounts(pool, pool.handled(), pool.failed());
    for (var worker : pool.crew()) if (worker != pool && !worker.isIdle()) add(worker, indent + "  ");
  }

  private void add(ActorCell cell, String indent) {
    if (cell instanceof PoolCell pool) {
      add(pool, indent);
      return;
    }
    var extras = cell.rich();
    text.append(indent).append(cell.name()).append(" (").append(cell.behaviour.how.strategy()).append("): ")
        .append(doing(cell));
    addCounts(cell, extras.handled, extras.failed);
  }

  private void addCounts(ActorCell cell, long handled, long failed) {
    int waiting = cell.waiting(COUNTED);
    if (waiting > 0) text.append("; ").append(waiting).append(waiting == COUNTED ? " or more" : "").append(" waiting");
    text.append("; ").append(handled).append(" handled");
    if (failed > 0) text.append(", ").append(failed).append(" failed");
    text.append('\n');
  }

  private static String doing(ActorCell cell) {
    var worker = cell.run();
    if (cell.rich().isAway()) return "cut off, its handler still runs";
    if (cell.rich().resting() != null) return "rests before its restart";
    if (worker == null || cell.isIdle()) return "idle";
    return cell.phase == ActorCell.LEAVING ? "ends" : Snapshot.at(worker).seen().doing();
  }
}
