package io.fibry.engine.cell;

import io.fibry.ActorScope;
import io.fibry.DeadLetter;
import io.fibry.DeadLetter.Reason;
import io.fibry.RequestException;
import io.fibry.engine.actor.ActorCell;
import io.fibry.engine.message.Baggage;
import io.fibry.engine.message.Deadline;
import io.fibry.engine.message.Envelope;
import io.fibry.engine.message.Events;
import io.fibry.engine.scope.Scope;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.atomic.LongAdder;

/**
 * What became of the messages of a scope and of those below it, and the last dead letters among
 * them. Outcomes only: what is sent is counted by nobody, once it is quiet it is their sum. Each
 * outcome is entered here and in the accounts of all scopes around, so that those need not ask
 * scopes that are gone. Thread-safe, without a lock: the sender who is refused may be at the edge
 * of his stack.
 */
public final class Accounts {
  private static final int KEPT = 100;
  // set while this thread is inside a listener
  private static final ThreadLocal<Boolean> LISTENING = new ThreadLocal<>();

  private final Scope scope;
  private final Accounts around; // null: the root's
  private final LongAdder handled = new LongAdder();
  private final LongAdder turns = new LongAdder(); // that had no outcome
  private final LongAdder[] unhandled = new LongAdder[Reason.values().length];
  private final AtomicReferenceArray<DeadLetter> last = new AtomicReferenceArray<>(KEPT); // a ring
  private final AtomicLong letters = new AtomicLong();
  // while a close is on: what it leaves; synchronized by itself
  private volatile List<DeadLetter> leftovers;

  public Accounts(Scope scope, Accounts around) {
    this.scope = scope;
    this.around = around;
    for (int i = 0; i < unhandled.length; i++) unhandled[i] = new LongAdder();
  }

  public void countHandled(long messages) {
    for (var each = this; each != null; each = each.around) each.handled.add(messages);
  }

  public void countUnhandled(Reason reason) {
    for (var each = this; each != null; each = each.around) each.unhandled[reason.ordinal()].increment();
  }

  /**
   * Somebody was at work, and nothing came of it: he put a message aside, say. For who waits until
   * all is quiet.
   */
  public void countTurn() {
    for (var each = this; each != null; each = each.around) each.turns.increment();
  }

  public long handled() {
    return handled.sum();
  }

  public long unhandled(Reason reason) {
    return unhandled[reason.ordinal()].sum();
  }

  public Map<Reason, Long> unhandled() {
    var all = new EnumMap<Reason, Long>(Reason.class);
    for (var reason : Reason.values()) all.put(reason, unhandled(reason));
    return Collections.unmodifiableMap(all);
  }

  /** Grows with whatever happens. */
  public long total() {
    long sum = handled() + turns.sum();
    for (var adder : unhandled) sum += adder.sum();
    return sum;
  }

  /**
   * A message that nobody waits for was not handled: counts it, keeps it for a while and tells the
   * listener.
   */
  public void deadLetter(ActorCell cell, Object message, Reason reason, Throwable cause) {
    countUnhandled(reason);
    Events.deadLetter(cell, message, reason);
    if (LISTENING.get() != null) return;
    var letter = new Letter(cell.front(), message, reason, Optional.ofNullable(cause));
    for (var each = this; each != null; each = each.around) each.keep(letter);
    tell(letter);
  }

  private void keep(Letter letter) {
    last.set((int) (letters.getAndIncrement() % KEPT), letter);
    var closing = leftovers;
    if (closing != null) closing.add(letter);
  }

  private void tell(Letter letter) {
    var listener = scope.options().deadLetters;
    if (listener == ActorScope.Options.DEFAULT.deadLetters) return;
    LISTENING.set(true);
    try {
      listener.accept(letter);
    } catch (Throwable failure) {
      Scope.LOG.error("the dead-letter listener of scope '{}' failed", scope.name(), failure);
    } finally {
      LISTENING.remove();
    }
  }

  /** The last ones, oldest first. */
  public List<DeadLetter> letters() {
    var found = new ArrayList<DeadLetter>();
    long end = letters.get();
    for (long i = Math.max(0, end - KEPT); i < end; i++) {
      var letter = last.get((int) (i % KEPT));
      if (letter != null) found.add(letter); // else it is just being written, or was forgotten
    }
    return List.copyOf(found);
  }

  /** A dead letter keeps its actor. */
  public void forgetLetters() {
    for (int i = 0; i < KEPT; i++) last.set(i, null);
  }

  public void collectLeftovers() {
    leftovers = Collections.synchronizedList(new ArrayList<>());
  }

  public List<DeadLetter> leftovers() {
    var collected = leftovers;
    if (collected == null) return List.of();
    synchronized (collected) {
      return List.copyOf(collected);
    }
  }

  public void stopCollecting() {
    leftovers = null;
  }

  /** What was sent may be a task, as the engine wraps it. */
  private record Letter(ActorCell cell, Object sent, Reason reason, Optional<Throwable> cause) implements DeadLetter {
    @Override
    public String actor() {
      return cell.name();
    }

    @Override
    public Object message() {
      return Envelope.given(sent);
    }

    @Override
    public boolean resend() {
      return cell.send(new Envelope(sent, Baggage.of(cell)), Deadline.NO_WAIT);
    }

    @Override
    public String toString() {
      return "dead letter to '" + actor() + "', " + reason + ": " + RequestException.shown(message());
    }
  }
}
