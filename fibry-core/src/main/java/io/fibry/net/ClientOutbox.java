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

/**
 * A client as an actor to write to. Two actors: the door, which users know, counts what is unsent
 * on the sender's own thread, and so never makes it wait; the writer, a fiber, writes. What is not
 * written is a dead letter of the one or the other: of the writer, where its turn came or would
 * have come.
 *
 * @param <M> what is sent
 */
final class ClientOutbox<M> {

  /**
   * How a message becomes bytes.
   *
   * @param <M> the message
   */
  interface Format<M> {
    /** How many bytes it will be. Throws IllegalArgumentException if it cannot be sent. */
    int size(M message);

    byte[] bytes(M message);
  }

  // what a message takes beside its bytes, while it waits: else empty lines would wait by the
  // million
  private static final int BESIDE = 32;

  private final ClientSocket link;
  private final int most;
  private final Format<M> form;
  // bytes between door and socket, and BESIDE for each message
  private final AtomicLong unsent = new AtomicLong();
  private final Actor<M> writer;
  private final Actor<M> door;

  @SuppressWarnings("unchecked") // the door takes nothing else
  ClientOutbox(ActorBuilder<Object> how, String part, ClientSocket link, int most, Format<M> form) {
    this.link = link;
    this.most = most;
    this.form = form;
    // a dead letter says it all; bounded by bytes
    var quiet = how.mailbox(Mailbox.unbounded()).onFailure(FailurePolicy.goOn().withoutLog());
    // what the user has around is for conversations
    this.writer = quiet.part(part + "/out").strategy(Strategy.FIBER).around((message, next) -> write((M) message))
        .newActor((M message) -> {});
    this.door = quiet.part(part).strategy(Strategy.CALLER).around((message, next) -> admit((M) message))
        .newActor((M message) -> {});
    door.closeOnExit(writer::sendPoisonPill);
    link.attach(door);
  }

  Actor<M> actor() {
    return door;
  }

  private void admit(M message) throws IOException {
    int size = form.size(message);
    if (size > most) throw new IllegalArgumentException("a message of " + size + " bytes cannot be sent where " + most
        + " may be unsent; send less at once, or allow more");
    long cost = (long) size + BESIDE;
    if (unsent.addAndGet(cost) > (long) most + BESIDE) {
      unsent.addAndGet(-cost);
      link.tear(link + " left more than " + most + " bytes unsent, so it was cut off");
      throw new IOException("nothing is sent any more: " + link + " left more than " + most + " bytes unsent");
    }
    if (!writer.sendMessage(message)) unsent.addAndGet(-cost);
  }

  private void write(M message) throws IOException {
    var bytes = form.bytes(message);
    try {
      link.sendAside(bytes);
    } catch (IOException gone) {
      door.askExit(); // the conversation may not notice: it need not read, nor write itself
      throw gone;
    } finally {
      // what was added; the bytes may be fewer
      unsent.addAndGet(-(long) form.size(message) - BESIDE);
    }
  }

  /**
   * Takes nothing more, and waits until what was taken is written, or cannot be: the write limit
   * ends that.
   */
  void finish() {
    door.sendPoisonPill();
    try {
      door.waitForExit();
      writer.waitForExit();
    } catch (CancellationException | RequestException interrupted) {
      // the link is closed next, which ends both
    }
  }
}
