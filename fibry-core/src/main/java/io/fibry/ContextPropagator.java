package io.fibry;

import java.util.Map;
import java.util.Optional;

/**
 * Passes a context of the sender's thread, such as the MDC, to the handler of a message. The
 * context is captured when the message is sent or its timer is started, and restored while the
 * message is handled. The context is not captured for a request that is handled on the asker's own
 * thread.
 *
 * <p>A propagator must be thread-safe and quick. If it throws, the exception is logged, and the
 * message is still handled.
 *
 * @param <C> the type of the captured context
 */
public interface ContextPropagator<C> {

  /** {@return the propagator of the MDC of slf4j, which works with any slf4j provider} */
  static ContextPropagator<?> mdc() {
    return Mdc.INSTANCE;
  }

  /**
   * {@return the context of the current thread, as an object that does not change} Called on the
   * sender's thread.
   */
  C capture();

  /**
   * {@return the context of the current thread, as an object that does not change} Override this
   * method if the context depends on the message; by default it calls {@link #capture()}. The
   * library calls only this method, before it offers the message to the mailbox, and without a
   * lock.
   *
   * @param recipient the actor that the message is sent to; a pool, not its worker
   * @param message the message; in {@link Actor#sendMessages} the list of messages, in
   * {@link Actor#execute} the {@link Runnable}
   */
  default C capture(Actor<?> recipient, Object message) {
    return capture();
  }

  /**
   * The handling of a message, as a result of {@link #restore(Object, Actor, Object)}. A propagator
   * returns it to learn whether the handler failed, for example to mark the span of a trace.
   * {@snippet class="io.fibry.JavadocSnippetsTest" region="handling"}
   */
  interface Handling extends AutoCloseable {

    /**
     * Called before {@link #close()} if the handler threw an exception, after the last retry of the
     * failure policy. Called on the handler's thread, when the policy has decided. A redelivery of
     * the message is another handling.
     *
     * @param failure the exception of the last attempt
     */
    void failed(Throwable failure);

    /** Restores the previous context of the thread. */
    @Override
    void close();
  }

  /**
   * Sets a captured context on the current thread. Called on the handler's thread, before the
   * handler and its interceptors.
   *
   * @param context the context that was captured for the message
   * @return restores the previous context of the thread; closed on the same thread, after the
   * message was handled
   */
  AutoCloseable restore(C context);

  /**
   * Sets a captured context on the current thread. Override this method if the context depends on
   * the message; by default it calls {@link #restore(Object)}. For a handler, the library calls
   * only this method.
   *
   * @param context the context that was captured for the message
   * @param actor the actor that handles the message; a pool, not its worker
   * @param message the message that is handled; for {@link Actor#sendMessages} one message of the
   * list
   * @return restores the previous context of the thread; closed on the same thread, after the
   * message was handled. A {@link Handling} also learns of the handler's failure
   */
  default AutoCloseable restore(C context, Actor<?> actor, Object message) {
    return restore(context);
  }

  /**
   * Sets a captured context on the current thread while the library sends a message for its sender.
   * The message comes from another node, from a store, or from the timer of an entity. The
   * propagators of the actor then capture the context. Override this method if {@code restore} does
   * more than to set a context, for example if it measures the handling; by default it calls
   * {@link #restore(Object, Actor, Object)}.
   *
   * @param context the context that was captured for the message, or was read from texts
   * @param recipient the actor that the message is sent to
   * @param message the message
   * @return restores the previous context of the thread; closed on the same thread, when the
   * message was sent
   */
  default AutoCloseable restoreForSend(C context, Actor<?> recipient, Object message) {
    return restore(context, recipient, message);
  }

  /** The kind of a {@link HandlerStep}. */
  enum StepKind {
    /** An exchange of an HTTP server, until its response was written or it became a WebSocket. */
    EXCHANGE,
    /** A step of a durable actor, until its result is stored. A replayed step is not reported. */
    DURABLE_STEP,
    /** The storing of a turn of a durable actor. It ends on a thread of the store. */
    COMMIT,
    /** A piece of work from a queue of a cluster. */
    QUEUE_WORK,
    /**
     * A message of a WebSocket, or a line or frame of a TCP connection. It begins when the handler
     * takes the message from its iterator, and ends when the handler asks for the next message or
     * returns.
     */
    CLIENT_MESSAGE
  }

  /** A part of a handler's work, which {@link #beginStep} may observe. Immutable. */
  interface HandlerStep {

    /** {@return the kind of the step} */
    StepKind kind();

    /**
     * {@return the name of the step} There are few names. The name of an exchange is its method and
     * route, or only the method if no route takes the request. A commit has the kind of its actor
     * as its name, and a piece of work the queue. A message of a client has the route of its
     * WebSocket or the name of the TCP acceptor, which is empty if the acceptor has no name.
     */
    String name();

    /**
     * {@return the facts that are known at the start of the step} The names follow the semantic
     * conventions of OpenTelemetry, as {@code url.path} does. The values are of the types
     * {@code String} and {@code Long}. They may contain texts of clients.
     */
    Map<String, Object> attributes();

    /**
     * {@return texts by which the sender of the work may pass on its context} For an exchange,
     * these are the headers of the request, whose names the map finds in upper and lower case.
     * Otherwise the map is empty. Check the texts, because they come from outside of this process.
     */
    Map<String, String> senderTexts();
  }

  /** The observation of a {@link HandlerStep}, as a result of {@link #beginStep}. */
  interface StepObservation extends AutoCloseable {
    /** Observes nothing. */
    StepObservation NONE = new StepObservation() {
      @Override
      public void ended(String outcome, Optional<Throwable> failure) {}

      @Override
      public void close() {}
    };

    /**
     * Called once, when the step has ended. Called on the thread that began the step, except for a
     * commit: the store's thread may call this method, also after {@link #close()}. An exchange
     * that becomes a WebSocket ends long before it is closed.
     *
     * @param outcome for an exchange the status of the response; {@code stored}, {@code done},
     * {@code retried}, {@code parked} or {@code failed} for the other kinds
     * @param failure the exception by which the step has failed. The failure of a handler is no
     * failure of its exchange if the response has a status below 500
     */
    void ended(String outcome, Optional<Throwable> failure);

    /**
     * {@return the id of the trace to which the step belongs, for the access log} The default
     * method returns no id.
     */
    default Optional<String> traceId() {
      return Optional.empty();
    }

    /**
     * Restores the previous context of the thread. Called once, on the thread that began the step,
     * after the handler's code.
     */
    @Override
    void close();
  }

  /**
   * Begins a part of a handler's work: an exchange of an HTTP server, a message of a connection, a
   * durable step, the commit of a durable turn, or a piece of work from a queue. Override this
   * method to trace or to measure these parts; by default it observes nothing. Called on the
   * handler's thread, before the user's code of the part. The method may set a context on the
   * thread until the observation is closed.
   * {@snippet class="io.fibry.net.HandlerStepsTest" region="steps"}
   *
   * @param step the part that begins
   * @return the observation of the part
   */
  default StepObservation beginStep(HandlerStep step) {
    return StepObservation.NONE;
  }
}
