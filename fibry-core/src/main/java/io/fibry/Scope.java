package io.fibry;

import io.fibry.DeadLetter.Reason;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The one scope: names, options, counts, dead letters. */
final class Scope implements ActorScope {
  static final Logger LOG = LoggerFactory.getLogger(ActorSystem.class);
  static final Scope ROOT = new Scope("root", Options.DEFAULT);
  private static final ThreadLocal<Boolean> LISTENING = new ThreadLocal<>(); // set while this thread is inside a listener

  private final String name;
  private final ConcurrentHashMap<String, ActorCell> living = new ConcurrentHashMap<>();
  private final LongAdder handled = new LongAdder();
  private final LongAdder[] unhandled = new LongAdder[Reason.values().length];
  private volatile Options options; // written by `configure`, read by whoever makes or uses an actor

  Scope(String name, Options options) {
    this.name = checked(name);
    this.options = options;
    for (int i = 0; i < unhandled.length; i++) unhandled[i] = new LongAdder();
  }

  @Override
  public String name() {
    return name;
  }

  Options options() {
    return options;
  }

  synchronized void configure(UnaryOperator<Options> change) {
    options = Objects.requireNonNull(Objects.requireNonNull(change, "options").apply(options), "the changed options");
  }

  @Override
  public ActorBuilder<Object> anonymous() {
    return Recipe.of(this, null);
  }

  @Override
  public ActorBuilder<Object> named(String name) {
    return Recipe.of(this, checked(name));
  }

  static String checked(String name) {
    if (name.isBlank()) throw new IllegalArgumentException("a blank name tells nobody anything; give one, or use anonymous()");
    return name;
  }

  @Override
  @SuppressWarnings("unchecked") // it was made with this protocol
  public <M> Optional<Actor<M>> find(String name, Class<M> protocol) {
    Objects.requireNonNull(protocol, "protocol");
    var cell = living.get(Objects.requireNonNull(name, "name"));
    return cell != null && cell.rich().type == protocol ? Optional.of((Actor<M>) (Actor<?>) cell) : Optional.empty();
  }

  void register(ActorCell cell, String name, Class<?> type) {
    cell.introduce(name, type);
    if (living.putIfAbsent(name, cell) != null)
      throw new IllegalArgumentException("scope '" + this.name + "' has a living actor named '" + name + "'; choose another name, or wait until that one has ended");
  }

  void free(ActorCell cell, String name) {
    living.remove(name, cell);
  }

  // ---- accounts

  void countHandled(long messages) {
    handled.add(messages);
  }

  void countUnhandled(Reason reason) {
    unhandled[reason.ordinal()].increment();
  }

  long handled() {
    return handled.sum();
  }

  long unhandled(Reason reason) {
    return unhandled[reason.ordinal()].sum();
  }

  /** A message that nobody waits for was not handled: counts it and tells the listener. */
  void deadLetter(ActorCell cell, Object message, Reason reason, Throwable cause) {
    countUnhandled(reason);
    var listener = options.deadLetters;
    if (listener == Options.DEFAULT.deadLetters || LISTENING.get() != null) return;
    LISTENING.set(true);
    try {
      listener.accept(new Letter(cell, message, reason, Optional.ofNullable(cause)));
    } catch (Throwable failure) {
      LOG.error("the dead-letter listener of scope '{}' failed", name, failure);
    } finally {
      LISTENING.remove();
    }
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
      return cell.send(new Envelope(sent), Limit.NO_WAIT);
    }

    @Override
    public String toString() {
      return "dead letter to '" + actor() + "', " + reason + ": " + RequestException.shown(message());
    }
  }
}
