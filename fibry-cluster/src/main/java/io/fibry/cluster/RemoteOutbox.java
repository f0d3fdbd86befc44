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
  private static final int MAX_PENDING_BYTES = 1 << 20; // bytes under delivery; further senders wait
  private static final int MIN_WEIGHT = 256; // of a message
  // Messages under delivery in full bundles; beyond that, messages are gathered.
  private static final int MAX_PENDING_MESSAGES = 1_024;
  private static final int MAX_BUNDLE_BYTES = 64 << 10; // of a bundle, but for one message

  /** Messages that have room, in a row. */
  record OutboundBatch(List<OutboundTell> tells, int weight) {
    @Override
    public String toString() {
      return tells.size() == 1 ? tells.getFirst().toString() : tells.size() + " messages";
    }
  }

  /** A message that has not arrived, or was not taken. */
  record LostMessage(OutboundTell tell, RequestException reason) {
    @Override
    public String toString() {
      return tell.toString();
    }
  }

  /** The delivery of a bundle has ended. */
  record BundleEnded() {}

  private final Duration maxWait; // for room, and for receipts
  private final int maxTells; // of a bundle
  private final int maxPendingBundles; // bundles
  private final Function<TellBundle, RemoteRequest<Receipt>> sending;
  private final Function<Object, String> describeMessage; // how an exception names a message
  private final Semaphore byteBudget = new Semaphore(MAX_PENDING_BYTES, true); // of all threads
  private final ArrayDeque<OutboundBatch> gathered = new ArrayDeque<>();
  private int pendingBundles; // bundles

  RemoteOutbox(Duration maxWait, int maxTells, Function<TellBundle, RemoteRequest<Receipt>> sending,
      Function<Object, String> describeMessage) {
    this.maxWait = maxWait;
    this.maxTells = maxTells;
    this.maxPendingBundles = MAX_PENDING_MESSAGES / maxTells;
    this.sending = sending;
    this.describeMessage = describeMessage;
  }

  // ---- for senders

  /** All or none; by any thread. */
  boolean send(List<OutboundTell> tells, Actor<Object> relay) {
    if (tells.isEmpty()) return true;
    int weight = weight(tells);
    if (!trySend(tells, weight, relay)) return false;
    boolean given = false;
    try {
      given = relay.sendMessage(new OutboundBatch(tells, weight));
      return given;
    } finally {
      if (!given) byteBudget.release(weight);
    }
  }

  private static int weight(List<OutboundTell> tells) {
    long sum = 0;
    for (var one : tells) sum += Math.max(MIN_WEIGHT, one.bytes());
    return (int) Math.min(MAX_PENDING_BYTES, sum);
  }

  private boolean trySend(List<OutboundTell> tells, int weight, Actor<Object> relay) {
    if (!byteBudget.hasQueuedThreads() && byteBudget.tryAcquire(weight)) return true;
    String why = "others before it have not arrived";
    var recorded = ClusterEvents.beginWait();
    boolean waited = false;
    try {
      waited = byteBudget.tryAcquire(weight, TimeUnit.NANOSECONDS.convert(maxWait), TimeUnit.NANOSECONDS);
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      why = "its sender was interrupted while it waited for room";
    }
    ClusterEvents.endWait(recorded, tells.getFirst().to().actor(), waited);
    if (waited) return true;
    for (var one : tells) relay.sendMessage(lostMessage(one, why, false));
    return false;
  }

  /** Returns false if some messages have not arrived; called by any thread. */
  boolean awaitArrival(Duration limit) throws InterruptedException {
    if (!byteBudget.tryAcquire(MAX_PENDING_BYTES, limit.toNanos(), TimeUnit.NANOSECONDS)) return false;
    byteBudget.release(MAX_PENDING_BYTES);
    return true;
  }

  /** Called by any thread. */
  boolean isEmpty() {
    return byteBudget.availablePermits() == MAX_PENDING_BYTES;
  }

  // ---- for the relay

  void add(OutboundBatch load, Actor<Object> relay) {
    gathered.add(load);
    if (pendingBundles < maxPendingBundles) sendBundle(relay);
  }

  /** Adds a message of a timer, which leaves even without room. */
  void add(OutboundTell late, Actor<Object> relay) {
    add(new OutboundBatch(List.of(late), 0), relay);
  }

  /** All that are gathered, so that what is sent now comes after them. */
  void sendAll(Actor<Object> relay) {
    while (!gathered.isEmpty()) sendBundle(relay);
  }

  void onBundleEnded(Actor<Object> relay) {
    pendingBundles--;
    if (!gathered.isEmpty()) sendBundle(relay);
  }

  private void sendBundle(Actor<Object> relay) {
    var tells = new ArrayList<OutboundTell>();
    int weight = 0;
    long bytes = 0;
    for (var next = gathered.peek(); next != null && tells.size() < maxTells; next = gathered.peek()) {
      for (var one : next.tells) bytes += one.bytes();
      if (bytes > MAX_BUNDLE_BYTES && !tells.isEmpty()) break;
      gathered.remove();
      tells.addAll(next.tells);
      weight += next.weight;
    }
    send(tells, weight, relay);
  }

  private void send(List<OutboundTell> tells, int weight, Actor<Object> relay) {
    var written = encode(tells, weight, relay);
    if (written.isEmpty()) return;
    var bundle = written.get();
    pendingBundles++;
    var request = sending.apply(bundle);
    request.answer().whenComplete((receipt, failure) -> {
      byteBudget.release(weight);
      relay.sendMessage(new BundleEnded());
      if (failure != null) reportLost(tells, failure, relay);
      else for (var one : receipt.refusals())
        if (one.index() >= 0 && one.index() < tells.size())
          relay.sendMessage(lostMessage(bundle.tells().get(one.index()), one.why(), false));
    });
    request.send();
  }

  private Optional<TellBundle> encode(List<OutboundTell> tells, int weight, Actor<Object> relay) {
    try {
      return Optional.of(TellBundle.of(tells));
    } catch (RuntimeException unwritable) {
      byteBudget.release(weight);
      reportLost(tells, unwritable, relay);
      return Optional.empty();
    }
  }

  private void reportLost(List<OutboundTell> tells, Throwable failure, Actor<Object> relay) {
    boolean unknown = failure instanceof RequestException none && none.outcome() != Outcome.NOT_DONE;
    for (var one : tells) relay.sendMessage(failure instanceof RequestException told && tells.size() == 1
        ? new LostMessage(one, told) : lostMessage(one, lossReason(failure), unknown));
  }

  private static String lossReason(Throwable failure) {
    return failure instanceof RequestException ? Lines.message(failure) : Lines.thrown(failure);
  }

  private LostMessage lostMessage(OutboundTell tell, String why, boolean mayHaveArrived) {
    String actor = tell.to().actor();
    return new LostMessage(tell,
        new UnreachableException(describeMessage.apply(tell.message()) + " did not get to actor '" + actor + "'"
            + (mayHaveArrived ? ", as far as is known here: " : ": ") + why, actor, tell.message(), null,
            mayHaveArrived ? Outcome.UNKNOWN : Outcome.NOT_DONE));
  }
}
