package io.fibry.net.socket;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.FailurePolicy;
import io.fibry.RequestException;
import io.fibry.Strategy;
import io.fibry.block.ForwardingActor;
import io.fibry.mailbox.Mailbox;
import io.fibry.spi.BlockBuilder;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.ToIntFunction;

/**
 * Sends messages to a client through an actor.
 *
 * <p>Users send to {@link #actor}. This actor adds the size of the message to the unsent bytes and
 * passes the message to {@code writer}. The writer is an actor on a fiber, so no sender waits for
 * the client. Some messages go to {@code admission} instead, an actor that runs on the sender's
 * thread. These are messages from timers, the server's own messages, and messages that exceed the
 * limit or cannot be sent. {@code admission} passes such a message to the writer, refuses it, or
 * cuts the client off. A user's message that is not written becomes a dead letter of
 * {@code admission} or {@code writer}.
 *
 * <p>{@code cutOff} decides how a client is cut off. It may close the socket at once. It may also
 * leave the socket open until the writer has ended. In both cases the writer begins no further
 * message: the message that it is writing is the last.
 */
public final class ClientOutbox<M> {

  /**
   * Converts messages to bytes.
   *
   * @param size returns the size of a message in bytes; throws IllegalArgumentException if the
   * message cannot be sent
   * @param bytes returns the bytes of a message
   * @param isInternal returns whether the server itself made the message, such as a ping; such a
   * message becomes no dead letter
   */
  public record MessageFormat<M>(ToIntFunction<M> size, Function<M, byte[]> bytes, Predicate<Object> isInternal) {
    public MessageFormat(ToIntFunction<M> size, Function<M, byte[]> bytes) {
      this(size, bytes, message -> false);
    }
  }

  // bytes added to the size of each message, for its objects in memory
  public static final int OVERHEAD = 32;

  private final ClientSocket socket;
  private final int maxUnsent;
  private final MessageFormat<M> format;
  private final Consumer<String> cutOff; // gets the reason
  // why the client was cut off, or null; written by `admission`, read by the writer
  private volatile String cutOffReason;
  // bytes of the user's messages, including OVERHEAD for each; added by senders, subtracted by the
  // writer
  private final AtomicLong unsent = new AtomicLong();
  // sends that OutboxActor has passed to `admission`, and that `admission` has not handled yet
  private final AtomicInteger inAdmission = new AtomicInteger();
  private final Actor<M> writer;
  private final Actor<M> admission;
  public final Actor<M> actor = new OutboxActor();

  /**
   * The actor that users get. A sender takes no lock and handles no message of another sender. Both
   * could happen in {@code admission}, which runs on the threads of its senders.
   */
  private final class OutboxActor extends ForwardingActor<M> {
    @Override
    protected Actor<M> target() {
      return admission;
    }

    @Override
    public boolean sendMessage(M message) {
      long cost = reserveFor(List.of(message));
      if (cost < 0) return sendToAdmission(List.of(message));
      if (writer.sendMessage(message)) return true;
      unsent.addAndGet(-cost);
      return false;
    }

    @Override
    public boolean sendMessages(List<? extends M> messages) {
      long cost = reserveFor(messages);
      if (cost < 0) return sendToAdmission(messages);
      if (writer.sendMessages(messages)) return true;
      unsent.addAndGet(-cost);
      return false;
    }

    /**
     * Until {@code admission} has handled these messages, all later messages go to
     * {@code admission}, too. If they went to the writer, they could overtake earlier messages of
     * their sender.
     */
    private boolean sendToAdmission(List<? extends M> messages) {
      inAdmission.incrementAndGet();
      try {
        return messages.size() == 1 ? admission.sendMessage(messages.getFirst()) : admission.sendMessages(messages);
      } finally {
        if (!admission.onExit().isDone()) decrementAfterMessages();
      }
    }

    private void decrementAfterMessages() {
      try {
        admission.execute(inAdmission::decrementAndGet);
      } catch (RejectedExecutionException ended) {} // all later messages go to `admission`, which refuses them
    }

    /**
     * Adds the cost of these messages to the unsent bytes, and returns this cost. Returns -1 if
     * {@code admission} must decide about the messages; its exception gives the reason of a
     * refusal.
     */
    private long reserveFor(List<? extends M> messages) {
      if (inAdmission.get() > 0 || admission.onExit().isDone()) return -1;
      long total = 0;
      try {
        for (var message : messages) {
          if (format.isInternal.test(message)) return -1;
          total += cost(message);
        }
      } catch (IllegalArgumentException unsendable) {
        return -1;
      }
      return reserve(total) ? total : -1;
    }
  }

  /** Makes an outbox that cuts a slow client off by a reset of its connection. */
  public ClientOutbox(ActorBuilder<Object> builder, String name, ClientSocket socket, int maxUnsent,
      MessageFormat<M> format) {
    this(builder, name, socket, maxUnsent, format, reason -> socket.reset(reason, true));
  }

  /**
   * Makes an outbox.
   *
   * @param cutOff called at most once, with the reason, on the thread of the sender whose message
   * exceeds the limit; must not wait
   */
  @SuppressWarnings("unchecked") // the actors get messages of type M only
  public ClientOutbox(ActorBuilder<Object> builder, String name, ClientSocket socket, int maxUnsent,
      MessageFormat<M> format, Consumer<String> cutOff) {
    this.socket = socket;
    this.maxUnsent = maxUnsent;
    this.format = format;
    this.cutOff = cutOff;
    // the mailbox is unbounded, because the unsent bytes are bounded; failures are not logged,
    // because dead letters report them
    var blockBuilder =
        BlockBuilder.of(builder.mailbox(Mailbox.unbounded()).onFailure(FailurePolicy.resume().withoutLog()))
            .countLostAsDisconnected().ignoreLost(format.isInternal);
    // write and admit run as the outermost interceptor of an empty handler; they never call next,
    // so the interceptors of the given builder do not run
    this.writer =
        blockBuilder.child(name + "/out").strategy(Strategy.FIBER).intercept((message, next) -> write((M) message))
            .newActor((M message) -> {});
    this.admission =
        blockBuilder.child(name).excludedFromAccounts().strategy(Strategy.CALLER)
            .intercept((message, next) -> admit((M) message))
            .newActor((M message) -> {});
    admission.closeOnExit(writer::sendPoisonPill);
    socket.endOnClose(admission);
  }

  /**
   * Returns the bytes for which a message counts. The server's own messages do not count: they are
   * few, and a ping must not make the user's next message exceed the limit.
   */
  private long cost(M message) {
    return format.isInternal.test(message) ? 0 : (long) format.size.applyAsInt(message) + OVERHEAD;
  }

  /**
   * Adds the bytes to the unsent bytes if the limit allows it, and returns whether they were added.
   * The bytes are not added first and subtracted after a refusal, because messages of other senders
   * would meanwhile be refused, although they fit.
   */
  private boolean reserve(long bytes) {
    for (long current = unsent.get(); current + bytes <= (long) maxUnsent + OVERHEAD; current = unsent.get())
      if (unsent.compareAndSet(current, current + bytes)) return true;
    return false;
  }

  /**
   * Decides about a message that did not go to the writer directly. Runs in {@code admission}, on
   * the sender's thread.
   */
  private void admit(M message) throws IOException {
    long cost = cost(message);
    if (cost > (long) maxUnsent + OVERHEAD) throw new IllegalArgumentException("a message of " + (cost - OVERHEAD)
        + " bytes exceeds the limit of " + maxUnsent + " unsent bytes; send less at once, or allow more");
    if (!reserve(cost)) {
      var reason = socket + " left more than " + maxUnsent + " bytes unsent, so it was cut off";
      cutOffReason = reason;
      try {
        cutOff.accept(reason);
      } finally {
        admission.askExit(); // a closed socket also ends this actor, but later, on another thread
      }
      throw new IOException(reason);
    }
    if (!writer.sendMessage(message)) unsent.addAndGet(-cost);
  }

  private void write(M message) throws IOException {
    try {
      var reason = cutOffReason;
      if (reason != null) throw new IOException(reason);
      socket.sendFromOutbox(format.bytes.apply(message));
    } catch (IOException failure) {
      // ends the outbox, because the connection's handler notices the failure only when it reads or
      // writes
      admission.askExit();
      if (!format.isInternal.test(message)) throw failure;
    } finally {
      unsent.addAndGet(-cost(message)); // the cost that the sender has added
    }
  }

  /**
   * Returns the unsent bytes of the user's messages, including the overhead of each message. After
   * the end of the writer, also the bytes of the messages that it has refused.
   */
  long unsent() {
    return unsent.get();
  }

  /** Returns the unsent bytes that may still be written; 0 after the end. */
  public long unsentBytes() {
    return writer.onExit().isDone() ? 0 : unsent();
  }

  /** Runs the action, on a fiber, when all messages are written or can no longer be written. */
  public void runWhenWritten(AutoCloseable action) {
    writer.closeOnExit(action);
  }

  /**
   * Waits until all messages are written or can no longer be written. The write limit bounds the
   * wait.
   */
  public void finish() {
    if (socket.isClosed()) admission.askExit(); // the client was cut off
    else admission.sendPoisonPill();
    try {
      admission.waitForExit();
      writer.waitForExit();
    } catch (CancellationException | RequestException ended) {} // the close of the socket ends both actors
  }
}
