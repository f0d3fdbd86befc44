package io.fibry.net;

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
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.ToIntFunction;

/**
 * A client as an actor to write to. Users send to the door. It counts the unsent bytes and hands
 * the message to the writer, a fiber, so no sender waits. A message that is refused, or that comes
 * from a timer, goes through an actor that runs on its sender's thread. A message that is not
 * written is a dead letter of one of the two.
 */
final class ClientOutbox<M> {

  /**
   * How a message becomes bytes. {@code size}, in bytes, throws IllegalArgumentException if the
   * message cannot be sent. A message for which {@code own} is true was not sent by a user, and is
   * no dead letter.
   */
  record LineFormat<M>(ToIntFunction<M> size, Function<M, byte[]> bytes, Predicate<Object> own) {
    LineFormat(ToIntFunction<M> size, Function<M, byte[]> bytes) {
      this(size, bytes, message -> false);
    }
  }

  private static final int OVERHEAD = 32; // bytes of memory for each message

  private final ClientSocket socket;
  private final int maxUnsent;
  private final LineFormat<M> format;
  // bytes, with overhead; added by senders, subtracted by the writer
  private final AtomicLong unsent = new AtomicLong();
  private final Actor<M> writer;
  private final Actor<M> counter;
  final Actor<M> actor = new OutboxActor();

  /** A sender neither waits for others here nor handles their messages. */
  private final class OutboxActor extends ForwardingActor<M> {
    @Override
    protected Actor<M> target() {
      return counter;
    }

    @Override
    public boolean sendMessage(M message) {
      long cost = count(List.of(message));
      if (cost < 0) return counter.sendMessage(message);
      if (writer.sendMessage(message)) return true;
      unsent.addAndGet(-cost);
      return false;
    }

    @Override
    public boolean sendMessages(List<? extends M> block) {
      long cost = count(block);
      if (cost < 0) return counter.sendMessages(block);
      if (writer.sendMessages(block)) return true;
      unsent.addAndGet(-cost);
      return false;
    }

    /** Negative: the counter must decide, and say why. */
    private long count(List<? extends M> block) {
      if (counter.onExit().isDone()) return -1;
      long all = 0;
      try {
        for (var message : block) {
          if (format.own.test(message)) return -1;
          all += cost(message);
        }
      } catch (IllegalArgumentException unsendable) {
        return -1;
      }
      return reserve(all) ? all : -1;
    }
  }

  @SuppressWarnings("unchecked") // the door takes nothing else
  ClientOutbox(ActorBuilder<Object> builder, String name, ClientSocket socket, int maxUnsent, LineFormat<M> format) {
    this.socket = socket;
    this.maxUnsent = maxUnsent;
    this.format = format;
    // bytes are bounded instead; dead letters tell of failures
    var quiet =
        BlockBuilder.of(builder.mailbox(Mailbox.unbounded()).onFailure(FailurePolicy.resume().withoutLog()))
            .countLostAsDisconnected(format.own);
    // not with the user's code around messages
    this.writer =
        quiet.child(name + "/out").strategy(Strategy.FIBER).intercept((message, next) -> write((M) message))
            .newActor((M message) -> {});
    this.counter =
        quiet.child(name).excludedFromAccounts().strategy(Strategy.CALLER)
            .intercept((message, next) -> admit((M) message))
            .newActor((M message) -> {});
    counter.closeOnExit(writer::sendPoisonPill);
    socket.endOnClose(counter);
  }

  private long cost(M message) {
    return (long) format.size.applyAsInt(message) + OVERHEAD;
  }

  /**
   * Counts these bytes if they fit. The bytes are not added and subtracted again, because other
   * senders would see that.
   */
  private boolean reserve(long bytes) {
    for (long now = unsent.get(); now + bytes <= (long) maxUnsent + OVERHEAD; now = unsent.get())
      if (unsent.compareAndSet(now, now + bytes)) return true;
    return false;
  }

  private void admit(M message) throws IOException {
    long cost = cost(message);
    if (cost > (long) maxUnsent + OVERHEAD) throw new IllegalArgumentException("a message of " + (cost - OVERHEAD)
        + " bytes cannot be sent where " + maxUnsent + " may be unsent; send less at once, or allow more");
    if (format.own.test(message)) unsent.addAndGet(cost); // these are few, and a full allowance is the user's
    else if (!reserve(cost)) {
      var reason = socket + " left more than " + maxUnsent + " bytes unsent, so it was cut off";
      socket.reset(reason);
      counter.askExit(); // now, and not when somebody has closed what ends with the socket
      throw new IOException(reason);
    }
    if (!writer.sendMessage(message)) unsent.addAndGet(-cost);
  }

  private void write(M message) throws IOException {
    var bytes = format.bytes.apply(message);
    try {
      socket.sendFromOutbox(bytes);
    } catch (IOException gone) {
      counter.askExit(); // the conversation may neither read nor write
      if (!format.own.test(message)) throw gone;
    } finally {
      unsent.addAndGet(-cost(message)); // as its sender added
    }
  }

  /** Bytes, with overhead. */
  long unsent() {
    return unsent.get();
  }

  /** Runs when all is written, or cannot be; on a fiber. */
  void onWritten(AutoCloseable last) {
    writer.closeOnExit(last);
  }

  /** Waits until all is written, or cannot be; the write limit ends that. */
  void finish() {
    if (socket.isClosed()) counter.askExit(); // it was cut off
    else counter.sendPoisonPill();
    try {
      counter.waitForExit();
      writer.waitForExit();
    } catch (CancellationException | RequestException closeEndsBoth) {}
  }
}
