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
 * <p>If no {@link #answer} is set for a request, the request fails with
 * {@link io.fibry.NoReplyException}. The probe waits for a message at most 5 s of real time by
 * default, or {@code -Dfibry.test.limit} seconds.
 *
 * @param <M> the messages
 */
public final class Probe<M> {
  private final ActorScope scope;
  private final String name;
  // added by handlers, removed by the test
  private final LinkedBlockingQueue<M> untakenMessages = new LinkedBlockingQueue<>();
  private final Queue<M> receivedMessages = new ConcurrentLinkedQueue<>(); // added by handlers, read by the test
  // answers by the class of the request; written by the test, read by the handler
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
   * @param scope owns the probe's actor; {@link #expectNothing} waits for this scope only
   * @param name unique among the scope's living actors
   * @return the probe
   */
  public static <M> Probe<M> of(ActorScope scope, String name) {
    return new Probe<>(scope, name);
  }

  /**
   * Returns the actor to pass to the code under test.
   *
   * @return the same actor at each call
   */
  public Actor<M> actor() {
    return actor;
  }

  /**
   * Sets the answer to later requests of a class.
   *
   * @param <Q> the request
   * @param <R> its answer
   * @param request the class of the requests
   * @param answer computes the answer; the asker gets its exceptions
   * @return this
   */
  public <Q extends Request<Q, R>, R> Probe<M> answer(Class<Q> request, Handler.Returning<Q, R> answer) {
    Objects.requireNonNull(answer, "answer");
    answers.put(request, message -> answer.handle(request.cast(message)));
    return this;
  }

  /**
   * Records the messages of other actors in this probe, too, before their handlers get them.
   *
   * @param <N> the messages
   * @param builder the builder of the actors
   * @return a changed copy
   */
  public <N extends M> ActorBuilder<N> recordedBy(ActorBuilder<N> builder) {
    return builder.<N>intercept((message, next) -> {
      addMessage(message);
      next.run();
    });
  }

  private void addMessage(M message) {
    receivedMessages.add(message);
    untakenMessages.add(message);
  }

  private void handle(M message, ActorContext<M> context) throws Exception {
    addMessage(message);
    var answer = answers.get(message.getClass());
    if (answer != null) reply(message, answer.handle(message), context);
  }

  @SuppressWarnings("unchecked") // `answer` checks the types
  private void reply(M request, Object value, ActorContext<M> context) {
    try {
      context.reply((Request<?, Object>) request, value);
    } catch (IllegalArgumentException noAsker) {
      // The request was sent as a message, so no asker waits for the answer.
    }
  }

  // ---- recorded messages

  /**
   * Waits for the next message and returns it.
   *
   * @return the oldest message that the test has not taken yet
   * @throws AssertionError if no message comes in time
   */
  public M next() {
    return next(limit());
  }

  private Duration limit() {
    return scope instanceof TestScope testScope ? testScope.limit : TestScope.LIMIT;
  }

  /**
   * Waits for the next message for at most {@code limit}, and returns it.
   *
   * @param limit in real time
   * @return the oldest message that the test has not taken yet
   * @throws AssertionError if no message comes in time
   * @throws CancellationException if interrupted; the flag stays set
   */
  public M next(Duration limit) {
    return next(limit, "a message");
  }

  private M next(Duration limit, String wanted) {
    try {
      var message = untakenMessages.poll(TimeUnit.NANOSECONDS.convert(limit), TimeUnit.NANOSECONDS);
      if (message == null) throw failure(wanted, "nothing within " + TestScope.format(limit));
      return message;
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw new CancellationException("interrupted while probe '" + name + "' waited for " + wanted);
    }
  }

  /**
   * Waits for the next message, which must equal {@code message}.
   *
   * @param message the expected message
   * @return the message that came
   * @throws AssertionError if another message comes, or if no message comes in time
   */
  public M expect(M message) {
    return expect(message.toString(), message::equals);
  }

  /**
   * Waits for the next message, which must pass the test {@code fits}.
   *
   * @param wanted describes the expected message
   * @param fits tests the message
   * @return the message that came
   * @throws AssertionError if another message comes, or if no message comes in time
   */
  public M expect(String wanted, Predicate<? super M> fits) {
    var message = next(limit(), wanted);
    if (!fits.test(message)) throw failure(wanted, message.toString());
    return message;
  }

  /**
   * Waits until no message is queued in the scope and no handler runs, and checks that the test has
   * taken all messages.
   *
   * @throws AssertionError if a message was not taken, or the scope does not become quiet
   */
  public void expectNothing() {
    var limit = limit();
    if (!scope.awaitQuiescence(limit))
      throw failure("cannot tell whether more messages come: the scope did not become quiet within "
          + TestScope.format(limit));
    if (!untakenMessages.isEmpty()) throw failure("nothing", List.copyOf(untakenMessages).toString());
  }

  /**
   * Returns all messages so far, whether the test has taken them or not.
   *
   * @return the messages in the order of their arrival
   */
  public List<M> messages() {
    return List.copyOf(receivedMessages);
  }

  private AssertionError failure(String wanted, String actual) {
    return failure("wanted " + wanted + " and got " + actual);
  }

  private AssertionError failure(String problem) {
    return new AssertionError("probe '" + name + "' " + problem + "; all messages so far: " + messages()
        + "; the scope:\n" + scope.dump());
  }

  @Override
  public String toString() {
    return "probe '" + name + "'";
  }
}
