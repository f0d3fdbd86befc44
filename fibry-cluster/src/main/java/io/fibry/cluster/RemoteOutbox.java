package io.fibry.cluster;

import io.fibry.Actor;
import io.fibry.Outcome;
import io.fibry.RequestException;
import io.fibry.cluster.RemoteSender.OutboundTell;
import io.fibry.cluster.TellBundle.Receipt;
import io.fibry.text.Lines;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * Messages of a relay that have no answers. Their senders wait for room, as for that of a mailbox.
 * While some messages are under delivery, others are gathered, and leave together. What does not
 * arrive, or is not taken, becomes a dead letter of the relay. Fields are of the relay's thread,
 * unless said otherwise.
 */
final class RemoteOutbox {
  private static final int ROOM = 1 << 20; // bytes under delivery; further senders wait
  private static final int LEAST_WEIGHT = 256; // of a message
  private static final int MANY = 1_024; // messages under delivery in full bundles; beyond that, messages are gathered
  private static final int MOST_BYTES = 64 << 10; // of a bundle, but for one message

  /** Messages that have room, in a row. */
  record OutboundBatch(List<OutboundTell> tells, int weight) {
    @Override
    public String toString() {
      return tells.size() == 1 ? tells.getFirst().toString() : tells.size() + " messages";
    }
  }

  /** A message that has not arrived, or was not taken. */
  record LostMessage(OutboundTell tell, RequestException why) {
    @Override
    public String toString() {
      return tell.toString();
    }
  }

  /** The delivery of a bundle has ended. */
  record BundleEnded() {}

  private final Duration longest; // for room, and for receipts
  private final int mostTells; // of a bundle
  private final int mostUnderWay; // bundles
  private final Function<TellBundle, RemoteRequest<Receipt>> sending;
  private final Function<Object, String> asked; // how an exception names a message
  private final Semaphore room = new Semaphore(ROOM, true); // of all threads
  private final ArrayDeque<OutboundBatch> gathered = new ArrayDeque<>();
  private int underWay; // bundles

  RemoteOutbox(Duration longest, int mostTells, Function<TellBundle, RemoteRequest<Receipt>> sending,
      Function<Object, String> asked) {
    this.longest = longest;
    this.mostTells = mostTells;
    this.mostUnderWay = MANY / mostTells;
    this.sending = sending;
    this.asked = asked;
  }

  // ---- for senders

  /** All or none; by any thread. */
  boolean send(List<OutboundTell> tells, Actor<Object> relay) {
    if (tells.isEmpty()) return true;
    int weight = weight(tells);
    if (!mayLeave(tells, weight, relay)) return false;
    boolean given = false;
    try {
      given = relay.sendMessage(new OutboundBatch(tells, weight));
      return given;
    } finally {
      if (!given) room.release(weight);
    }
  }

  private static int weight(List<OutboundTell> tells) {
    long sum = 0;
    for (var one : tells) sum += Math.max(LEAST_WEIGHT, one.bytes());
    return (int) Math.min(ROOM, sum);
  }

  private boolean mayLeave(List<OutboundTell> tells, int weight, Actor<Object> relay) {
    if (!room.hasQueuedThreads() && room.tryAcquire(weight)) return true;
    String why = "others before it have not arrived";
    var recorded = ClusterEvents.beginWait();
    boolean waited = false;
    try {
      waited = room.tryAcquire(weight, TimeUnit.NANOSECONDS.convert(longest), TimeUnit.NANOSECONDS);
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      why = "its sender was interrupted while it waited for room";
    }
    ClusterEvents.endWait(recorded, tells.getFirst().to().actor(), waited);
    if (waited) return true;
    for (var one : tells) relay.sendMessage(lost(one, why, false));
    return false;
  }

  /** Returns false if some messages have not arrived; called by any thread. */
  boolean awaitArrival(Duration limit) throws InterruptedException {
    if (!room.tryAcquire(ROOM, limit.toNanos(), TimeUnit.NANOSECONDS)) return false;
    room.release(ROOM);
    return true;
  }

  /** Called by any thread. */
  boolean isEmpty() {
    return room.availablePermits() == ROOM;
  }

  // ---- for the relay

  void add(OutboundBatch load, Actor<Object> relay) {
    gathered.add(load);
    if (underWay < mostUnderWay) leave(relay);
  }

  /** Adds a message of a timer, which leaves even without room. */
  void add(OutboundTell late, Actor<Object> relay) {
    add(new OutboundBatch(List.of(late), 0), relay);
  }

  /** All that are gathered, so that what is sent now comes after them. */
  void leaveAll(Actor<Object> relay) {
    while (!gathered.isEmpty()) leave(relay);
  }

  void over(Actor<Object> relay) {
    underWay--;
    if (!gathered.isEmpty()) leave(relay);
  }

  private void leave(Actor<Object> relay) {
    var tells = new ArrayList<OutboundTell>();
    int weight = 0;
    long bytes = 0;
    for (var next = gathered.peek(); next != null && tells.size() < mostTells; next = gathered.peek()) {
      for (var one : next.tells) bytes += one.bytes();
      if (bytes > MOST_BYTES && !tells.isEmpty()) break;
      gathered.remove();
      tells.addAll(next.tells);
      weight += next.weight;
    }
    send(tells, weight, relay);
  }

  private void send(List<OutboundTell> tells, int weight, Actor<Object> relay) {
    var written = written(tells, weight, relay);
    if (written.isEmpty()) return;
    var bundle = written.get();
    underWay++;
    var request = sending.apply(bundle);
    request.answer().whenComplete((receipt, failure) -> {
      room.release(weight);
      relay.sendMessage(new BundleEnded());
      if (failure != null) lose(tells, failure, relay);
      else for (var one : receipt.refusals())
        if (one.index() >= 0 && one.index() < tells.size())
          relay.sendMessage(lost(bundle.tells().get(one.index()), one.why(), false));
    });
    request.send();
  }

  private Optional<TellBundle> written(List<OutboundTell> tells, int weight, Actor<Object> relay) {
    try {
      return Optional.of(TellBundle.of(tells));
    } catch (RuntimeException unwritable) {
      room.release(weight);
      lose(tells, unwritable, relay);
      return Optional.empty();
    }
  }

  private void lose(List<OutboundTell> tells, Throwable failure, Actor<Object> relay) {
    boolean unknown = failure instanceof RequestException none && none.outcome() != Outcome.NOT_DONE;
    for (var one : tells) relay.sendMessage(failure instanceof RequestException told && tells.size() == 1
        ? new LostMessage(one, told) : lost(one, why(failure), unknown));
  }

  private static String why(Throwable failure) {
    return failure instanceof RequestException ? Lines.message(failure) : Lines.thrown(failure);
  }

  private LostMessage lost(OutboundTell tell, String why, boolean mayHaveArrived) {
    String actor = tell.to().actor();
    return new LostMessage(tell,
        new UnreachableException(asked.apply(tell.message()) + " did not get to actor '" + actor + "'"
            + (mayHaveArrived ? ", as far as is known here: " : ": ") + why, actor, tell.message(), null,
            mayHaveArrived ? Outcome.UNKNOWN : Outcome.NOT_DONE));
  }
}
