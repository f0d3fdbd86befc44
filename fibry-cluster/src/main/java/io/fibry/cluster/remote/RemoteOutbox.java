package io.fibry.cluster.remote;

import io.fibry.Actor;
import io.fibry.RequestException;
import io.fibry.RequestOutcome;
import io.fibry.cluster.UnavailableException;
import io.fibry.cluster.membership.ClusterEvents;
import io.fibry.cluster.remote.TellBundle.Receipt;
import io.fibry.text.Lines;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * Sends a relay's messages that expect no answer. The relay is the actor of a {@link RemoteSender}.
 * Senders wait for capacity here, as they would at a full mailbox. While many messages are in
 * flight, further messages are gathered, and sent in bundles. A message that does not arrive, or is
 * refused, becomes a dead letter of the relay. Fields whose comments name no thread are used only
 * by the relay's thread.
 */
public final class RemoteOutbox {
  private static final int MAX_PENDING_BYTES = 1 << 20; // gathered and in flight; beyond that, senders wait
  private static final int MIN_WEIGHT = 256; // a smaller message counts as this number of bytes
  // Max messages in flight, if each bundle counts as full; further messages are gathered.
  private static final int MAX_PENDING_MESSAGES = 1_024;
  private static final int MAX_BUNDLE_BYTES = 64 << 10; // a larger message is sent alone

  /** Messages that were sent together; they count as {@code weight} bytes in flight. */
  record OutboundBatch(List<OutboundTell> tells, int weight) {
    /**
     * Adds the messages to {@code parts}, divided so that the bytes of each part fit into a bundle.
     * A larger message is a part of its own.
     */
    private void divide(Collection<OutboundBatch> parts) {
      int begin = 0;
      long bytes = 0;
      int remainingWeight = weight;
      for (int i = 0; i < tells.size(); i++) {
        long added = tells.get(i).bytes();
        if (i > begin && bytes + added > MAX_BUNDLE_BYTES) {
          var part = tells.subList(begin, i);
          int partWeight = Math.min(remainingWeight, RemoteOutbox.weight(part));
          parts.add(new OutboundBatch(part, partWeight));
          remainingWeight -= partWeight;
          begin = i;
          bytes = 0;
        }
        bytes += added;
      }
      parts.add(begin == 0 ? this : new OutboundBatch(tells.subList(begin, tells.size()), remainingWeight));
    }

    @Override
    public String toString() {
      return tells.size() == 1 ? tells.getFirst().toString() : tells.size() + " messages";
    }
  }

  /** A message that has not arrived, or was refused. */
  public record LostMessage(OutboundTell tell, RequestException reason) {
    @Override
    public String toString() {
      return tell.toString();
    }
  }

  /** Tells the relay that a bundle was answered, or has failed. */
  record BundleEnded() {}

  private final Duration maxWait; // max time for which a sender waits for capacity
  private final int maxTells; // max messages of a bundle; messages that were sent together may be more
  private final int maxPendingBundles; // in flight; beyond that, messages are gathered
  private final Function<TellBundle, SentRequest<Receipt>> newRequest;
  private final Function<Object, String> describeMessage; // how an exception names a message
  private final Semaphore byteBudget = new Semaphore(MAX_PENDING_BYTES, true); // used by all threads
  private final ArrayDeque<OutboundBatch> gatheredBatches = new ArrayDeque<>();
  private int pendingBundles; // number of bundles in flight

  RemoteOutbox(Duration maxWait, int maxTells, Function<TellBundle, SentRequest<Receipt>> newRequest,
      Function<Object, String> describeMessage) {
    this.maxWait = maxWait;
    this.maxTells = maxTells;
    this.maxPendingBundles = MAX_PENDING_MESSAGES / maxTells;
    this.newRequest = newRequest;
    this.describeMessage = describeMessage;
  }

  // ---- for senders

  /** Sends all messages or none, and returns whether they were accepted. Called by any thread. */
  boolean send(List<OutboundTell> tells, Actor<Object> relay) {
    if (tells.isEmpty()) return true;
    int weight = weight(tells);
    if (!awaitCapacity(tells, weight, relay)) return false;
    boolean isAccepted = false;
    try {
      isAccepted = relay.sendMessage(new OutboundBatch(tells, weight));
      return isAccepted;
    } finally {
      if (!isAccepted) byteBudget.release(weight);
    }
  }

  private static int weight(List<OutboundTell> tells) {
    long sum = 0;
    for (var tell : tells) sum += Math.max(MIN_WEIGHT, tell.bytes());
    return (int) Math.min(MAX_PENDING_BYTES, sum);
  }

  private boolean awaitCapacity(List<OutboundTell> tells, int weight, Actor<Object> relay) {
    if (!byteBudget.hasQueuedThreads() && byteBudget.tryAcquire(weight)) return true;
    String reason = "too many earlier messages have not arrived yet";
    var jfrEvent = ClusterEvents.beginWait();
    boolean hasCapacity = false;
    try {
      hasCapacity = byteBudget.tryAcquire(weight, TimeUnit.NANOSECONDS.convert(maxWait), TimeUnit.NANOSECONDS);
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      reason = "its sender was interrupted while it waited for capacity";
    }
    ClusterEvents.endWait(jfrEvent, tells.getFirst().address().actor(), hasCapacity);
    if (hasCapacity) return true;
    for (var tell : tells) relay.sendMessage(lostMessage(tell, reason, false));
    return false;
  }

  /**
   * Waits until all messages have arrived. Returns false if some have not arrived within the limit.
   * Called by any thread.
   */
  boolean awaitArrival(Duration limit) throws InterruptedException {
    if (!byteBudget.tryAcquire(MAX_PENDING_BYTES, limit.toNanos(), TimeUnit.NANOSECONDS)) return false;
    byteBudget.release(MAX_PENDING_BYTES);
    return true;
  }

  /** Returns whether no message is gathered or in flight. Called by any thread. */
  boolean isEmpty() {
    return byteBudget.availablePermits() == MAX_PENDING_BYTES;
  }

  // ---- for the relay

  void add(OutboundBatch batch, Actor<Object> relay) {
    batch.divide(gatheredBatches);
    sendBundles(relay);
  }

  /** Adds a message of a timer, which is sent even without capacity. */
  void add(OutboundTell tell, Actor<Object> relay) {
    add(new OutboundBatch(List.of(tell), 0), relay);
  }

  /** Sends all gathered messages, so that a message that is sent next arrives after them. */
  void sendAll(Actor<Object> relay) {
    while (!gatheredBatches.isEmpty()) sendBundle(relay);
  }

  void onBundleEnded(Actor<Object> relay) {
    pendingBundles--;
    sendBundles(relay);
  }

  private void sendBundles(Actor<Object> relay) {
    while (pendingBundles < maxPendingBundles && !gatheredBatches.isEmpty()) sendBundle(relay);
  }

  private void sendBundle(Actor<Object> relay) {
    var tells = new ArrayList<OutboundTell>();
    int weight = 0;
    long bytes = 0;
    for (var batch = gatheredBatches.peek(); batch != null && tells.size() < maxTells; batch = gatheredBatches.peek()) {
      for (var tell : batch.tells) bytes += tell.bytes();
      if (bytes > MAX_BUNDLE_BYTES && !tells.isEmpty()) break;
      gatheredBatches.remove();
      tells.addAll(batch.tells);
      weight += batch.weight;
    }
    send(tells, weight, relay);
  }

  private void send(List<OutboundTell> tells, int weight, Actor<Object> relay) {
    var encodedBundle = encode(tells, weight, relay);
    if (encodedBundle.isEmpty()) return;
    var bundle = encodedBundle.get();
    var request = newRequest.apply(bundle);
    pendingBundles++;
    request.answer().whenComplete((receipt, failure) -> {
      byteBudget.release(weight);
      relay.sendMessage(new BundleEnded());
      if (failure != null) reportLost(tells, failure, relay);
      else for (var refusal : receipt.refusals())
        if (refusal.index() >= 0 && refusal.index() < tells.size())
          relay.sendMessage(lostMessage(bundle.tells().get(refusal.index()), refusal.why(), false));
    });
    request.send();
  }

  private Optional<TellBundle> encode(List<OutboundTell> tells, int weight, Actor<Object> relay) {
    try {
      return Optional.of(TellBundle.of(tells));
    } catch (RuntimeException failure) {
      byteBudget.release(weight);
      reportLost(tells, failure, relay);
      return Optional.empty();
    }
  }

  private void reportLost(List<OutboundTell> tells, Throwable failure, Actor<Object> relay) {
    boolean mayHaveArrived = failure instanceof RequestException cause && cause.outcome() != RequestOutcome.NOT_DONE;
    for (var tell : tells) relay.sendMessage(failure instanceof RequestException cause && tells.size() == 1
        ? new LostMessage(tell, cause) : lostMessage(tell, lossReason(failure), mayHaveArrived));
  }

  private static String lossReason(Throwable failure) {
    return failure instanceof RequestException ? Lines.message(failure) : Lines.thrown(failure);
  }

  private LostMessage lostMessage(OutboundTell tell, String reason, boolean mayHaveArrived) {
    String actor = tell.address().actor();
    return new LostMessage(tell,
        new UnavailableException(describeMessage.apply(tell.message()) + " did not get to actor '" + actor + "'"
            + (mayHaveArrived ? ", as far as this node knows: " : ": ") + reason, actor, tell.message(), null,
            mayHaveArrived ? RequestOutcome.UNKNOWN : RequestOutcome.NOT_DONE));
  }
}
