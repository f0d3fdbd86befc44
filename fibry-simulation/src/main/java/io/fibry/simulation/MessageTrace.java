package io.fibry.simulation;

import io.fibry.Actor;
import io.fibry.text.Lines;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The events of a run, as messages between actors. Only a run that is shown has one. */
final class MessageTrace {
  private static final int MAX_EVENTS = 60; // events that are shown
  private static final int MAX_TEXT = 60; // characters of a message

  private enum TraceArrow {
    MESSAGE(" --> ", "->>"), ANSWER(" ..> ", "-->>"), NOTE("", "");

    private final String text;
    private final String mermaid;

    TraceArrow(String text, String mermaid) {
      this.text = text;
      this.mermaid = mermaid;
    }
  }

  /** @param overtakes the thread was not the thread that had been ready for longest */
  private record TraceEvent(long step, long time, TraceArrow arrow, String from, String to, String what,
      boolean overtakes) {}

  private final List<TraceEvent> events = new ArrayList<>();
  private final Map<Actor<?>, String> names = new IdentityHashMap<>();
  private final Map<SimulatedThread, Actor<?>> askedActors = new HashMap<>(); // by each thread, the last one

  // ---- what is told

  void onSend(SimulationRun run, Actor<?> to) {
    askedActors.put(run.current(), to);
  }

  void onHandle(SimulationRun run, String from, Actor<?> at, Object message) {
    add(run, TraceArrow.MESSAGE, from, name(at), text(message));
  }

  /** If a thread has asked the actor that wakes it, it has the answer. */
  void onWake(SimulationRun run, SimulatedThread woken) {
    var by = run.current();
    if (by == null || by == woken || by.actor == null || askedActors.get(woken) != by.actor) return;
    askedActors.remove(woken);
    add(run, TraceArrow.ANSWER, name(by.actor), name(woken), "");
  }

  void note(SimulationRun run, String what) {
    add(run, TraceArrow.NOTE, "", "", what);
  }

  void note(SimulationRun run, Actor<?> actor, String what) {
    note(run, name(actor) + " " + what);
  }

  void onYield(SimulationRun run) {
    var at = StackWalker.getInstance().walk(frames -> frames.map(StackWalker.StackFrame::toStackTraceElement)
        .dropWhile(frame -> !frame.getClassName().equals(YieldPoints.class.getName())).skip(1).findFirst())
        .orElseThrow();
    String type = at.getClassName().substring(at.getClassName().lastIndexOf('.') + 1);
    String domain = at.getLineNumber() < 0 ? at.getMethodName() : at.getMethodName() + ':' + at.getLineNumber();
    note(run, name(run.current()) + " gives way in " + type + '.' + domain);
  }

  private void add(SimulationRun run, TraceArrow arrow, String from, String to, String what) {
    events.add(new TraceEvent(run.steps(), run.clock.now(), arrow, from, to, what,
        arrow == TraceArrow.MESSAGE && run.isOvertaking));
  }

  String name(@Nullable SimulatedThread task) {
    if (task == null) return "outside";
    return task.actor == null ? task.toString() : name(task.actor);
  }

  /** Hash codes differ from run to run, so actors without a name have numbers. */
  private String name(Actor<?> actor) {
    return names.computeIfAbsent(actor, unknown -> {
      String name = actor.name();
      return name.startsWith("anonymous@") ? "anonymous-" + (names.size() + 1) : name;
    });
  }

  private static String text(Object message) {
    String text;
    try {
      text = String.valueOf(message);
    } catch (RuntimeException broken) {
      text = message.getClass().getSimpleName() + ", whose text throws " + Lines.thrown(broken);
    }
    if (text.contains("$$Lambda")) return "code";
    text = text.replaceAll("\\R", " ");
    return text.length() > MAX_TEXT ? text.substring(0, MAX_TEXT - 3) + "..." : text;
  }

  // ---- what is shown

  private List<TraceEvent> last() {
    return events.subList(Math.max(0, events.size() - MAX_EVENTS), events.size());
  }

  @Override
  public String toString() {
    var text = new StringBuilder();
    if (events.size() > MAX_EVENTS) text.append("  ... ").append(events.size() - MAX_EVENTS).append(" before\n");
    for (var event : last()) {
      text.append(String.format("  %5d %12.6f s  ", event.step, event.time / 1e9));
      if (event.arrow == TraceArrow.NOTE) text.append("** ").append(event.what);
      else text.append(event.from).append(event.arrow.text).append(event.to);
      if (event.arrow == TraceArrow.MESSAGE) text.append(": ").append(event.what);
      if (event.overtakes) text.append("   <-- out of turn");
      text.append('\n');
    }
    return text.toString();
  }

  /** Returns a sequence diagram of Mermaid. */
  String diagram() {
    var parties = new LinkedHashSet<String>();
    for (var event : last()) {
      if (event.arrow == TraceArrow.NOTE) continue;
      parties.add(event.from);
      parties.add(event.to);
    }
    var text = new StringBuilder("sequenceDiagram\n");
    var aliases = new HashMap<String, String>();
    for (var party : parties) {
      aliases.put(party, "p" + aliases.size());
      text.append("  participant ").append(aliases.get(party)).append(" as ").append(plain(party)).append('\n');
    }
    if (parties.isEmpty()) return text.toString();
    String all = "p0" + (parties.size() > 1 ? ",p" + (parties.size() - 1) : "");
    for (var event : last()) {
      if (event.arrow == TraceArrow.NOTE) text.append("  Note over ").append(all);
      else text.append("  ").append(aliases.get(event.from)).append(event.arrow.mermaid).append(aliases.get(event.to));
      text.append(": ").append(event.arrow == TraceArrow.ANSWER ? "answer" : plain(event.what)).append('\n');
    }
    return text.toString();
  }

  /** Mermaid ends a line at these. */
  private static String plain(String text) {
    return text.replace(';', ',').replace('#', ' ');
  }
}
