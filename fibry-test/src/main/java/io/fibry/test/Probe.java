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
 * An actor that writes down what it is sent, for the test to look at, one message after the other.
 * Thread-safe.
 * {@snippet class="io.fibry.test.SnippetsTest" region="probe"}
 *
 * <p>A request is answered as {@link #answer} says; one it says nothing of fails with a
 * {@link io.fibry.NoReplyException}. How long it waits for a message is real time: 5 seconds, or as
 * many as the system property {@code fibry.test.limit} says; all failures say what came instead,
 * and what the scope is at.
 *
 * @param <M> the messages
 */
public final class Probe<M> {
  private final ActorScope scope;
  private final String name;
  // added by handlers, taken by the test
  private final LinkedBlockingQueue<M> unseen = new LinkedBlockingQueue<>();
  private final Queue<M> all = new ConcurrentLinkedQueue<>(); // added by handlers, read by the test
  // by the class of the request; written by the test, read by the handler
  private final Map<Class<?>, Handler.Returning<Object, Object>> answers = new ConcurrentHashMap<>();
  private final Actor<M> actor;

  private Probe(ActorScope scope, String name) {
    this.scope = scope;
    this.name = name;
    this.actor = scope.named(name).onFailure(FailurePolicy.goOn().withoutLog())
        .newActor((M message, ActorContext<M> context) -> handle(message, context));
  }

  /**
   * A probe with this name in this scope.
   *
   * @param <M> the messages
   * @param scope owns its actor; nothing is expected of what happens outside of it
   * @param name unique among the living of the scope
   * @return the probe, at work
   */
  public static <M> Probe<M> of(ActorScope scope, String name) {
    return new Probe<>(scope, name);
  }

  /**
   * What to give to the code under test.
   *
   * @return always the same one
   */
  public Actor<M> actor() {
    return actor;
  }

  /**
   * From now on, requests of this class get this answer.
   *
   * @param <Q> the request
   * @param <R> its answer
   * @param request its class
   * @param answer makes the answer; what it throws, the asker gets
   * @return this
   */
  public <Q extends Request<Q, R>, R> Probe<M> answer(Class<Q> request, Handler.Returning<Q, R> answer) {
    Objects.requireNonNull(answer, "answer");
    answers.put(request, message -> answer.handle(request.cast(message)));
    return this;
  }

  /**
   * Writes down also what other actors are sent, before their handlers see it.
   *
   * @param <N> their messages
   * @param how makes them
   * @return a changed copy
   */
  public <N extends M> ActorBuilder<N> recording(ActorBuilder<N> how) {
    return how.<N>around((message, next) -> {
      note(message);
      next.run();
    });
  }

  private void note(M message) {
    all.add(message);
    unseen.add(message);
  }

  private void handle(M message, ActorContext<M> context) throws Exception {
    note(message);
    var answer = answers.get(message.getClass());
    if (answer != null) reply(message, answer.handle(message), context);
  }

  @SuppressWarnings("unchecked") // the answer is of the request's type: `answer` is typed by it
  private void reply(M request, Object value, ActorContext<M> context) {
    try {
      context.reply((Request<?, Object>) request, value);
    } catch (IllegalArgumentException nobodyAsked) {
      // it was sent as a message: nobody waits for the answer
    }
  }

  // ---- what came

  /**
   * The next message, waiting for it.
   *
   * @return the first that no call has answered yet
   * @throws AssertionError if none comes in time
   */
  public M next() {
    return next(TestScope.LIMIT);
  }

  /**
   * The next message, waiting for it at most so long.
   *
   * @param limit real time
   * @return the first that no call has answered yet
   * @throws AssertionError if none comes in time
   * @throws CancellationException if the waiting thread is interrupted; the flag is kept
   */
  public M next(Duration limit) {
    return next(limit, "a message");
  }

  private M next(Duration limit, String wanted) {
    try {
      var message = unseen.poll(TimeUnit.NANOSECONDS.convert(limit), TimeUnit.NANOSECONDS);
      if (message == null) throw failure(wanted, "nothing within " + limit);
      return message;
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw new CancellationException("interrupted while probe '" + name + "' waited for " + wanted);
    }
  }

  /**
   * The next message is this one.
   *
   * @param message what it is equal to
   * @return the one that came
   * @throws AssertionError if another comes, or none in time
   */
  public M expect(M message) {
    return expect(message.toString(), message::equals);
  }

  /**
   * The next message fits.
   *
   * @param wanted what is wanted, for the text of the failure
   * @param fits whether it is that
   * @return the one that came
   * @throws AssertionError if another comes, or none in time
   */
  public M expect(String wanted, Predicate<? super M> fits) {
    var message = next(TestScope.LIMIT, wanted);
    if (!fits.test(message)) throw failure(wanted, message.toString());
    return message;
  }

  /**
   * No message is left, and none is on its way: waits until the scope is quiet.
   *
   * @throws AssertionError if there is one, or if the scope does not become quiet
   */
  public void expectNothing() {
    if (!scope.awaitQuiet(TestScope.LIMIT))
      throw failure("nothing", "no certainty within " + TestScope.LIMIT + ": the scope did not become quiet");
    if (!unseen.isEmpty()) throw failure("nothing", List.copyOf(unseen).toString());
  }

  /**
   * All that came so far, whether a call has answered it or not.
   *
   * @return in the order it came
   */
  public List<M> all() {
    return List.copyOf(all);
  }

  private AssertionError failure(String wanted, String got) {
    return new AssertionError("probe '" + name + "' wanted " + wanted + " and got " + got + "; all it got so far: "
        + all() + "; the scope is at\n" + scope.dump());
  }

  @Override
  public String toString() {
    return "probe '" + name + "'";
  }
}
