package io.fibry.net;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.FailurePolicy;
import io.fibry.RequestException;
import io.fibry.Strategy;
import io.fibry.mailbox.Mailbox;
import java.io.IOException;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.ToIntFunction;

/**
 * A client as an actor to write to. Users know the door, which counts unsent bytes and never waits;
 * the writer is a fiber. A message that is not written is a dead letter of one of them.
 */
final class ClientOutbox<M> {

  /**
   * How a message becomes bytes. {@code size}, in bytes, throws IllegalArgumentException if the
   * message cannot be sent. What is {@code own} was not sent by a user, and is no dead letter.
   */
  record Format<M>(ToIntFunction<M> size, Function<M, byte[]> bytes, Predicate<Object> own) {
    Format(ToIntFunction<M> size, Function<M, byte[]> bytes) {
      this(size, bytes, message -> false);
    }
  }

  private static final int OVERHEAD = 32; // bytes of memory for each message

  private final ClientSocket socket;
  private final int maxUnsent;
  private final Format<M> format;
  // bytes, with overhead; added by the door, subtracted by the writer
  private final AtomicLong unsent = new AtomicLong();
  private final Actor<M> writer;
  final Actor<M> door;

  @SuppressWarnings("unchecked") // the door takes nothing else
  ClientOutbox(ActorBuilder<Object> builder, String name, ClientSocket socket, int maxUnsent, Format<M> format) {
    this.socket = socket;
    this.maxUnsent = maxUnsent;
    this.format = format;
    // bytes are bounded instead; dead letters tell of failures
    var quiet =
        builder.mailbox(Mailbox.unbounded()).onFailure(FailurePolicy.goOn().withoutLog()).forBlocks()
            .toClient(format.own);
    // not with the user's code around messages
    this.writer =
        quiet.part(name + "/out").strategy(Strategy.FIBER).around((message, next) -> write((M) message))
            .newActor((M message) -> {});
    this.door =
        quiet.part(name).uncounted().strategy(Strategy.CALLER).around((message, next) -> admit((M) message))
            .newActor((M message) -> {});
    door.closeOnExit(writer::sendPoisonPill);
    socket.endOnClose(door);
  }

  private void admit(M message) throws IOException {
    int size = format.size.applyAsInt(message);
    if (size > maxUnsent) throw new IllegalArgumentException("a message of " + size + " bytes cannot be sent where "
        + maxUnsent + " may be unsent; send less at once, or allow more");
    long cost = (long) size + OVERHEAD;
    boolean own = format.own.test(message); // these are few, and a full allowance is the user's
    if (unsent.addAndGet(cost) > (long) maxUnsent + OVERHEAD && !own) {
      unsent.addAndGet(-cost);
      var reason = socket + " left more than " + maxUnsent + " bytes unsent, so it was cut off";
      socket.reset(reason);
      throw new IOException(reason);
    }
    if (!writer.sendMessage(message)) unsent.addAndGet(-cost);
  }

  private void write(M message) throws IOException {
    var bytes = format.bytes.apply(message);
    try {
      socket.sendFromOutbox(bytes);
    } catch (IOException gone) {
      door.askExit(); // the conversation may neither read nor write
      if (!format.own.test(message)) throw gone;
    } finally {
      unsent.addAndGet(-(long) format.size.applyAsInt(message) - OVERHEAD); // as the door added
    }
  }

  /** Runs when all is written, or cannot be; on a fiber. */
  void whenWritten(AutoCloseable last) {
    writer.closeOnExit(last);
  }

  /** Waits until all is written, or cannot be; the write limit ends that. */
  void finish() {
    if (socket.isClosed()) door.askExit(); // it was cut off
    else door.sendPoisonPill();
    try {
      door.waitForExit();
      writer.waitForExit();
    } catch (CancellationException | RequestException closeEndsBoth) {}
  }
}
