package io.fibry.net.socket;

import io.fibry.ContextPropagator.HandlerStep;
import io.fibry.ContextPropagator.StepKind;
import io.fibry.ContextPropagator.StepObservation;
import io.fibry.block.TimedStep;
import io.fibry.spi.BlockBuilder;
import io.fibry.spi.MultiStepMessage;
import io.fibry.text.Lines;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The present step of a conversation: the line, frame, message or exchange that is handled. While
 * the conversation reads or writes, it waits for its client, and no step is shown. The work after
 * such a wait is shown as a new step, so a long response is not reported as a slow step. Listeners
 * get the time of each completed step without these waits. The conversation's thread calls all
 * methods except {@code currentStep} and {@code completedSteps}, which any thread may call.
 */
public final class CurrentStep implements MultiStepMessage {
  /** A subject whose name, unlike its text, contains nothing that the client has sent. */
  public interface NamedSubject {
    String typeName();
  }

  /** A new object for each step that is shown, because each step has its own start time. */
  private static final class ConversationStep extends TimedStep {
    private final Object subject;

    ConversationStep(Object subject) {
      this.subject = subject;
    }

    @Override
    public String typeName() {
      return subject instanceof NamedSubject named ? named.typeName()
          : subject instanceof String ? "connection" : subject.getClass().getSimpleName();
    }

    @Override
    public String toString() {
      return Lines.line(subject.toString());
    }
  }

  /** The negotiation of TLS with a client, before the conversation. */
  private record Handshake(String client) implements NamedSubject {
    @Override
    public String typeName() {
      return "TLS handshake";
    }

    @Override
    public String toString() {
      return "the TLS handshake with " + client;
    }
  }

  /**
   * The wait of a conversation for bytes of its client, as observers see it.
   *
   * <p>An observer must not take a conversation that has got bytes for a conversation that waits.
   * Three things happen in this order: the bytes arrive in the socket, the reader wakes and takes
   * them, and the conversation ends the wait. Within one wait, an observer first checks that the
   * socket has no bytes, and then that the reader is parked. If the reader took bytes before the
   * first check, it runs until the end of the wait, because it parks only to wait for more bytes.
   * (A reader of TLS may also park to send a record of TLS itself, to a client that does not read.)
   *
   * <p>The state of a platform thread does not show that the thread waits in {@code java.net}. So a
   * conversation on such a thread counts as being at work.
   */
  static final class InputWait {
    private volatile int count; // odd during a wait; written by the conversation, read by observers
    // the next two fields are written before `count`, so an observer of a wait sees its fields
    private Thread reader;
    private Transport transport;
    private volatile boolean isCancelled; // whether the input has ended

    /** Called by the conversation before it waits; {@code reader} is the thread that reads. */
    void begin(Thread reader, Transport transport) {
      this.reader = reader;
      this.transport = transport;
      count = count + 1;
    }

    /** Called after each read outside of an exchange, also by a thread that has begun no wait. */
    void end() {
      if ((count & 1) != 0) count = count + 1;
    }

    /** Called before the input is ended, because the reader may wake later. */
    void cancel() {
      isCancelled = true;
    }

    /** Returns whether the conversation waits, and nothing has arrived. Called by any thread. */
    boolean isPending() {
      int wait = count;
      if ((wait & 1) == 0 || isCancelled) return false;
      var waitReader = reader;
      return !transport.hasUnreadInSocket() && isParked(waitReader) && count == wait;
    }

    private static boolean isParked(Thread thread) {
      var state = thread.getState();
      return state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING;
    }
  }

  /**
   * Shows the messages of a connection to the context propagators: lines, frames, or messages of a
   * WebSocket. Made only if there are propagators. A message is open from the moment at which the
   * handler takes it until the handler asks for the next message, returns or throws. At most one
   * message is open. The thread that reads calls all methods; if this is not the thread of the
   * conversation, the handler must have joined it before it returns.
   */
  public static final class MessageObserver {
    private final BlockBuilder<?> builder;
    private final HandlerStep step; // the same for all messages
    private StepObservation observation = StepObservation.NONE; // of the open message
    private Thread thread; // has begun the open message; null if none is open

    /**
     * Makes an observer.
     *
     * @param name the route of the WebSocket, or the name of the acceptor
     */
    public MessageObserver(BlockBuilder<?> builder, String name, Map<String, Object> attributes) {
      this.builder = builder;
      this.step = new MessageStep(name, attributes);
    }

    void begin() {
      end(Optional.empty());
      thread = Thread.currentThread();
      observation = builder.beginStep(step);
    }

    void end(Optional<Throwable> failure) {
      var ended = observation;
      if (ended == StepObservation.NONE) return;
      observation = StepObservation.NONE;
      ended.ended(failure.isPresent() ? "failed" : "done", failure);
      if (thread == Thread.currentThread()) ended.close(); // another thread does not have the values of the step
      thread = null;
    }

    /** A message, as context propagators see it: its content is not shown. */
    private record MessageStep(String name, Map<String, Object> attributes) implements HandlerStep {
      @Override
      public StepKind kind() {
        return StepKind.CLIENT_MESSAGE;
      }

      @Override
      public Map<String, String> senderTexts() {
        return Map.of();
      }
    }
  }

  final InputWait inputWait = new InputWait();
  private Object subject; // object whose text is shown as the step; null if no step is shown
  private boolean isCounted; // whether endLast counts the step
  private volatile ConversationStep shownStep; // null while the conversation waits for its client
  private volatile long completed; // number of steps that have ended
  private final List<Consumer<? super Duration>> listeners = new ArrayList<>(0); // called for each completed step
  private long workedNanos; // time of the step until it was last paused; used only if there are listeners
  private boolean isTimeRunning; // whether the time since resumedNanos belongs to the step
  private long resumedNanos; // System.nanoTime() when the step began or was last resumed
  private MessageObserver messageObserver; // null if no propagator observes the messages of this connection

  CurrentStep() {}

  void beginHandshake(String client) {
    begin(new Handshake(client));
  }

  void beginConversation(String client) {
    begin("the conversation with " + client);
  }

  public void begin(Object subject) {
    begin(subject, true);
  }

  /** Reports each message that begins from now on. Called before the first message. */
  public void observeMessages(MessageObserver observer) {
    messageObserver = observer;
  }

  /** Begins the step of a line, frame or message that the handler takes from its iterator. */
  void beginMessage(Object message) {
    begin(message);
    if (messageObserver != null) messageObserver.begin();
  }

  /** Ends the observation of a message whose handler has failed. Does nothing between messages. */
  public void failMessage(Throwable failure) {
    if (messageObserver != null) messageObserver.end(Optional.of(failure));
  }

  /**
   * Shows {@code subject}; {@code endLast} will not count it. Shows no step if {@code subject} is
   * null.
   */
  public void beginUncounted(Object subject) {
    begin(subject, false);
  }

  private void begin(Object subject, boolean isCounted) {
    this.subject = subject;
    this.isCounted = isCounted;
    workedNanos = 0;
    isTimeRunning = false;
    resume();
  }

  /**
   * Called when a conversation or exchange ends normally or by an error of its client. Ends the
   * last step, and counts it unless it is uncounted or has ended already.
   */
  public void endLast() {
    if (isCounted) end();
    else hide();
  }

  /** Shows no step while the conversation waits for its client. */
  void pause() {
    stopTime();
    shownStep = null;
  }

  /** Shows no step until another step begins. The time of the step ends. */
  void hide() {
    stopTime();
    subject = null;
    shownStep = null;
  }

  private void stopTime() {
    if (!isTimeRunning) return;
    isTimeRunning = false;
    workedNanos += System.nanoTime() - resumedNanos;
  }

  /** Ends a step that failed, without counting the step. */
  public void fail() {
    hide();
    isCounted = false;
  }

  void resume() {
    shownStep = subject == null ? null : new ConversationStep(subject);
    isTimeRunning = subject != null && !listeners.isEmpty();
    if (isTimeRunning) resumedNanos = System.nanoTime();
  }

  public void end() {
    hide();
    isCounted = false;
    if (messageObserver != null) messageObserver.end(Optional.empty());
    completed = completed + 1;
    if (listeners.isEmpty()) return;
    var duration = Duration.ofNanos(workedNanos);
    for (var listener : listeners) listener.accept(duration);
  }

  @Override
  public AutoCloseable onStepEnd(Consumer<? super Duration> listener) {
    listeners.add(Objects.requireNonNull(listener, "listener"));
    return () -> listeners.remove(listener);
  }

  @Override
  public Object currentStep() {
    return shownStep;
  }

  @Override
  public boolean isAwaitingInput() {
    return inputWait.isPending();
  }

  @Override
  public long completedSteps() {
    return completed;
  }
}
