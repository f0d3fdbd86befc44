package io.fibry.simulation.run;

import io.fibry.Actor;
import io.fibry.text.Lines;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Records the events of a run: messages between actors, and notes. Only the run that the text of a
 * failure shows has a trace.
 */
public final class MessageTrace {
  private static final int MAX_EVENTS = 60; // a failure shows at most this many events, the last of the run
  private static final int MAX_TEXT = 60; // characters shown of a message
  private static final int YIELD_FRAMES = 3; // the frames of onYield, SimulationRun.passYieldPoint and YieldPoints.pass

  private enum TraceArrow {
    MESSAGE(" --> ", "->>"), ANSWER(" ..> ", "-->>"), NOTE("", "");

    private final String text;
    private final String mermaid;

    TraceArrow(String text, String mermaid) {
      this.text = text;
      this.mermaid = mermaid;
    }
  }

  /**
   * @param time ns by the run's clock
   * @param text returns the text; called when the run has ended, because making the text of an
   * exception may start a thread, which would change the run
   * @param isOvertaking whether another thread had been ready for longer than the thread that ran
   */
  private record TraceEvent(long step, long time, TraceArrow arrow, String from, String to,
      Supplier<String> text, boolean isOvertaking) {}

  private final SimulatedClock clock;
  private final List<TraceEvent> events = new ArrayList<>();
  private final Map<Actor<?>, String> names = new IdentityHashMap<>();
  // The actor to which each thread sent its last message.
  private final Map<SimulatedThread, Actor<?>> lastReceivers = new HashMap<>();
  private long step; // the number of the step that runs, or ran last
  private boolean isOvertaking; // another thread had been ready for longer than the thread of this step

  MessageTrace(SimulatedClock clock) {
    this.clock = clock;
  }

  // ---- recording

  void onStep(long newStep, boolean isStepOvertaking) {
    step = newStep;
    isOvertaking = isStepOvertaking;
  }

  void onSend(SimulatedThread sender, Actor<?> receiver) {
    lastReceivers.put(sender, receiver);
  }

  void onHandle(String sender, Actor<?> receiver, Object message) {
    String text = text(message);
    add(TraceArrow.MESSAGE, sender, name(receiver), () -> text);
  }

  /**
   * Records an answer if the woken thread sent its last message to the actor that wakes it.
   *
   * @param waker the thread that runs; null between steps
   */
  void onWake(@Nullable SimulatedThread waker, SimulatedThread woken) {
    if (waker == null || waker == woken || waker.actor == null || lastReceivers.get(woken) != waker.actor) return;
    lastReceivers.remove(woken);
    add(TraceArrow.ANSWER, name(waker.actor), name(woken), () -> "");
  }

  void note(String text) {
    add(TraceArrow.NOTE, "", "", () -> text);
  }

  /** Records an event of an actor. The text is made when the run has ended. */
  void note(Actor<?> actor, Supplier<String> text) {
    String name = name(actor);
    add(TraceArrow.NOTE, "", "", () -> name + " " + text.get());
  }

  /** Records that a thread gives way at a yield point, with the place in its code. */
  void onYield(SimulatedThread fiber) {
    var frame = StackWalker.getInstance().walk(frames -> frames.map(StackWalker.StackFrame::toStackTraceElement)
        .skip(YIELD_FRAMES).findFirst()).orElseThrow();
    String type = frame.getClassName().substring(frame.getClassName().lastIndexOf('.') + 1);
    String location =
        frame.getLineNumber() < 0 ? frame.getMethodName() : frame.getMethodName() + ':' + frame.getLineNumber();
    note(name(fiber) + " yields in " + type + '.' + location);
  }

  private void add(TraceArrow arrow, String from, String to, Supplier<String> text) {
    events.add(new TraceEvent(step, clock.now(), arrow, from, to, text, arrow == TraceArrow.MESSAGE && isOvertaking));
  }

  String name(@Nullable SimulatedThread fiber) {
    if (fiber == null) return "outside";
    return fiber.actor == null ? fiber.toString() : name(fiber.actor);
  }

  /**
   * Returns an actor's name. An actor without a name gets a number, because hash codes differ
   * between runs.
   */
  private String name(Actor<?> actor) {
    return names.computeIfAbsent(actor, newActor -> {
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

  // ---- showing

  private List<TraceEvent> lastEvents() {
    return events.subList(Math.max(0, events.size() - MAX_EVENTS), events.size());
  }

  @Override
  public String toString() {
    var text = new StringBuilder();
    if (events.size() > MAX_EVENTS) text.append("  ... ").append(events.size() - MAX_EVENTS).append(" before\n");
    for (var event : lastEvents()) {
      text.append(String.format("  %5d %12.6f s  ", event.step, event.time / 1e9));
      if (event.arrow == TraceArrow.NOTE) text.append("** ").append(event.text.get());
      else text.append(event.from).append(event.arrow.text).append(event.to);
      if (event.arrow == TraceArrow.MESSAGE) text.append(": ").append(event.text.get());
      if (event.isOvertaking) text.append("   <-- out of turn");
      text.append('\n');
    }
    return text.toString();
  }

  /** Returns a sequence diagram of Mermaid. */
  public String diagram() {
    var parties = new LinkedHashSet<String>();
    for (var event : lastEvents()) {
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
    String allParties = "p0" + (parties.size() > 1 ? ",p" + (parties.size() - 1) : "");
    for (var event : lastEvents()) {
      if (event.arrow == TraceArrow.NOTE) text.append("  Note over ").append(allParties);
      else text.append("  ").append(aliases.get(event.from)).append(event.arrow.mermaid).append(aliases.get(event.to));
      text.append(": ").append(event.arrow == TraceArrow.ANSWER ? "answer" : plain(event.text.get())).append('\n');
    }
    return text.toString();
  }

  /** Replaces the characters at which Mermaid would end a line or a text. */
  private static String plain(String text) {
    return text.replace(';', ',').replace('#', ' ');
  }
}
