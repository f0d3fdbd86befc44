package io.fibry.test;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.FailurePolicy;
import io.fibry.Handler;
import io.fibry.Request;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/**
 * An actor that records its messages for a test. Thread-safe.
 * {@snippet class="io.fibry.test.SnippetsTest" region="probe"}
 *
 * <p>A request without an {@link #answer} fails with {@link io.fibry.NoReplyException}. The probe
 * waits for messages in real time, 5 seconds or what {@code -Dfibry.test.limit} says.
 *
 * @param <M> the messages
 */
public final class Probe<M> {
  private final ActorScope scope;
  private final String name;
  // added by handlers, taken by the test
  private final LinkedBlockingQueue<M> unseen = new LinkedBlockingQueue<>();
  private final Queue<M> received = new ConcurrentLinkedQueue<>(); // added by handlers, read by the test
  // by class of request; written by the test, read by the handler
  private final Map<Class<?>, Handler.Returning<Object, Object>> answers = new ConcurrentHashMap<>();
  private final Actor<M> actor;

  private Probe(ActorScope scope, String name) {
    this.scope = scope;
    this.name = name;
    this.actor = scope.named(name).onFailure(FailurePolicy.resume().withoutLog())
        .newActor((M message, ActorContext<M> context) -> handle(message, context));
  }

  /**
   * Makes a probe.
   *
   * @param <M> the messages
   * @param scope owns the probe's actor; {@link #expectNothing} checks no other
   * @param name unique among the scope's living actors
   * @return the probe
   */
  public static <M> Probe<M> of(ActorScope scope, String name) {
    return new Probe<>(scope, name);
  }

  /**
   * The actor to pass to the code under test.
   *
   * @return always the same
   */
  public Actor<M> actor() {
    return actor;
  }

  /**
   * Answers requests of a class from now on.
   *
   * @param <Q> the request
   * @param <R> its answer
   * @param request the class
   * @param answer makes the answer; the asker gets its exceptions
   * @return this
   */
  public <Q extends Request<Q, R>, R> Probe<M> answer(Class<Q> request, Handler.Returning<Q, R> answer) {
    Objects.requireNonNull(answer, "answer");
    answers.put(request, message -> answer.handle(request.cast(message)));
    return this;
  }

  /**
   * Messages of other actors are recorded, too, before their handlers see them.
   *
   * @param <N> the messages
   * @param how the builder of the actors
   * @return a changed copy
   */
  public <N extends M> ActorBuilder<N> recordedBy(ActorBuilder<N> how) {
    return how.<N>intercept((message, next) -> {
      note(message);
      next.run();
    });
  }

  private void note(M message) {
    received.add(message);
    unseen.add(message);
  }

  private void handle(M message, ActorContext<M> context) throws Exception {
    note(message);
    var answer = answers.get(message.getClass());
    if (answer != null) reply(message, answer.handle(message), context);
  }

  @SuppressWarnings("unchecked") // `answer` checks the types
  private void reply(M request, Object value, ActorContext<M> context) {
    try {
      context.reply((Request<?, Object>) request, value);
    } catch (IllegalArgumentException sentAsMessage) {
      // sent as a message
    }
  }

  // ---- recorded messages

  /**
   * Takes the next message; waits for it.
   *
   * @return the oldest message not taken yet
   * @throws AssertionError if none comes in time
   */
  public M next() {
    return next(limit());
  }

  private Duration limit() {
    return scope instanceof TestScope own ? own.limit : TestScope.LIMIT;
  }

  /**
   * Takes the next message; waits at most {@code limit}.
   *
   * @param limit in real time
   * @return the oldest message not taken yet
   * @throws AssertionError if none comes in time
   * @throws CancellationException if interrupted; the flag stays set
   */
  public M next(Duration limit) {
    return next(limit, "a message");
  }

  private M next(Duration limit, String wanted) {
    try {
      var message = unseen.poll(TimeUnit.NANOSECONDS.convert(limit), TimeUnit.NANOSECONDS);
      if (message == null) throw failure(wanted, "nothing within " + TestScope.shown(limit));
      return message;
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw new CancellationException("interrupted while probe '" + name + "' waited for " + wanted);
    }
  }

  /**
   * Takes the next message, which must equal this one.
   *
   * @param message the expected message
   * @return the message that came
   * @throws AssertionError if another one comes, or none in time
   */
  public M expect(M message) {
    return expect(message.toString(), message::equals);
  }

  /**
   * Takes the next message, which must fit.
   *
   * @param wanted describes the expected message
   * @param fits tests the message
   * @return the message that came
   * @throws AssertionError if another one comes, or none in time
   */
  public M expect(String wanted, Predicate<? super M> fits) {
    var message = next(limit(), wanted);
    if (!fits.test(message)) throw failure(wanted, message.toString());
    return message;
  }

  /**
   * Waits until the scope is quiet; no message may be left.
   *
   * @throws AssertionError if one is left, or the scope does not become quiet
   */
  public void expectNothing() {
    var limit = limit();
    if (!scope.awaitQuiescence(limit))
      throw failure("nothing", "no certainty within " + TestScope.shown(limit) + ": the scope did not become quiet");
    if (!unseen.isEmpty()) throw failure("nothing", List.copyOf(unseen).toString());
  }

  /**
   * All messages so far, taken or not.
   *
   * @return in order of arrival
   */
  public List<M> messages() {
    return List.copyOf(received);
  }

  private AssertionError failure(String wanted, String got) {
    return new AssertionError("probe '" + name + "' wanted " + wanted + " and got " + got + "; all messages so far: "
        + messages() + "; the scope:\n" + scope.dump());
  }

  @Override
  public String toString() {
    return "probe '" + name + "'";
  }
}
