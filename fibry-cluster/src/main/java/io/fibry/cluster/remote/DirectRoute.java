package io.fibry.cluster.remote;

import io.fibry.Actor;
import io.fibry.ActorSystem;
import io.fibry.RequestException;
import io.fibry.cluster.membership.ClusterEvents;
import io.fibry.cluster.wire.Protocol;
import io.fibry.spi.AskChain;
import io.fibry.spi.BlockBuilder;
import io.fibry.spi.EncodedAsk;
import io.fibry.spi.PromptReceiver;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.StampedLock;

/**
 * The way of an {@code ask} from the only node of a network to an actor that the node exposes,
 * without relay, network and gate. The asker's thread decodes the request, and adds it to the
 * mailbox of the actor. The actor's thread encodes the answer, which the asker decodes. So the two
 * threads share no object of users, as if they were on two nodes, and the asker gets the same
 * exceptions. Thread-safe.
 *
 * <p>The route is only for actors to which a thread can send without a wait and without code of
 * users ({@link PromptReceiver#sendsWithoutUserCode}), and for scopes without context propagators.
 * So a listener of dead letters that closes the offer does not wait for its own thread. An asker
 * takes the relay if an earlier message of its thread may be in flight ({@link
 * RemoteSender#hasDelivered}). A request that cannot be decoded, is too large, or would close a
 * cycle of waits also goes to the relay, which reports the failure.
 *
 * <p>No request is added to the mailbox after the end of the offer. Askers hold a lock for reading
 * from their check of {@code isClosed} until the request is in the mailbox. The thread that closes
 * the route sets {@code isClosed}, and then waits for the lock for writing. Under the lock, no code
 * of users runs, not even their clock. So user code may close the offer at any time, and a close
 * waits only for threads that add a request to the mailbox.
 */
public final class DirectRoute<M> {
  private final NodeContext nodeContext;
  private final Protocol<M> protocol;
  private final PromptReceiver actor;
  private final String self; // the entry of the actor among the askers of its requests
  private final List<String> onlySelf;
  private final StampedLock lock = new StampedLock();
  private volatile boolean isClosed;

  private DirectRoute(NodeContext nodeContext, InboundDispatcher<M> dispatcher, PromptReceiver actor) {
    this.nodeContext = nodeContext;
    this.protocol = dispatcher.protocol();
    this.actor = actor;
    this.self = dispatcher.chainEntry(Optional.empty()).toString();
    this.onlySelf = List.of(self);
  }

  /**
   * Opens the route to an actor, until it is closed. Returns empty if the actor gets its requests
   * from the network only. The context propagators of an actor would capture the context of the
   * asker's thread, which does not leave its node.
   */
  static <M> Optional<DirectRoute<M>> open(NodeContext nodeContext, InboundDispatcher<M> dispatcher,
      Actor<? super M> actor) {
    return nodeContext.transport().isOfOnlyNode() && actor instanceof PromptReceiver receiver
        && receiver.sendsWithoutUserCode() && !nodeContext.blockBuilder().hasPropagators()
        && !BlockBuilder.of(ActorSystem.beside(actor)).hasPropagators()
            ? Optional.of(new DirectRoute<>(nodeContext, dispatcher, receiver)) : Optional.empty();
  }

  /** Closes the route. Returns when the requests that were sent before are in the mailbox. */
  void close() {
    isClosed = true;
    lock.unlockWrite(lock.writeLock());
  }

  /**
   * Asks the actor, on the asker's thread. Returns empty if the asker must send the request to the
   * relay.
   */
  <R> Optional<R> tryAsk(OutboundAsk<R> outbound, Duration limit, RemoteSender sender) {
    if (outbound.body().length > nodeContext.transport().maxBodyBytes() || !sender.hasDelivered())
      return Optional.empty();
    var waitingAskers = AskChain.current();
    if (waitingAskers.contains(self)) return Optional.empty();
    M message;
    try {
      message = protocol.decode(outbound.body());
    } catch (VirtualMachineError fatal) {
      throw fatal;
    } catch (Throwable failure) { // the relay will report it
      return Optional.empty();
    }
    var ask = new DirectAsk(outbound.request(), limit, withSelf(waitingAskers));
    try {
      return ask(outbound, message, ask);
    } finally {
      ask.onSent(); // unlocks, if an error prevented the send
    }
  }

  private List<String> withSelf(List<String> waitingAskers) {
    if (waitingAskers.isEmpty()) return onlySelf;
    var askers = new ArrayList<>(waitingAskers);
    askers.add(self);
    return askers;
  }

  private <R> Optional<R> ask(OutboundAsk<R> outbound, M message, DirectAsk ask) {
    var jfrEvent = ClusterEvents.beginRequest();
    boolean isForRelay = false;
    Throwable failure = null;
    try {
      Object result = send(outbound, message, ask);
      isForRelay = result == ask;
      return isForRelay ? Optional.empty() : Optional.of(answer(outbound, message, result));
    } catch (Throwable thrown) {
      failure = thrown;
      throw thrown;
    } finally {
      if (jfrEvent != null && !isForRelay)
        ClusterEvents.endRequest(jfrEvent, outbound.address().actor(), outbound.request(), 1, failure);
    }
  }

  private Object send(OutboundAsk<?> outbound, M message, DirectAsk ask) {
    try {
      return actor.askEncoded(message, ask);
    } catch (RequestException thrown) {
      throw thrown.request() == message ? ReplyCodec.localFailure(outbound, message, thrown, nodeContext) : thrown;
    }
  }

  private <R> R answer(OutboundAsk<R> outbound, M message, Object result) {
    if (result instanceof Failed failed)
      throw ReplyCodec.localFailure(outbound, message, failed.failure, nodeContext);
    try {
      return outbound.decodeAnswer((byte[]) result);
    } catch (Throwable failure) { // the codec failed, or memory ran out
      throw ReplyCodec.unreadableAnswer(outbound, failure, nodeContext);
    }
  }

  /** The result of a request that failed after it was sent. */
  private record Failed(Throwable failure) {}

  /** One request. The asker's thread makes it, and holds the lock for reading while it is sent. */
  private final class DirectAsk implements EncodedAsk {
    private final Object request;
    private final Duration limit;
    private final List<String> askers;
    private long stamp; // of the lock; 0 before it is locked, and when it was unlocked

    DirectAsk(Object request, Duration limit, List<String> askers) {
      this.request = request;
      this.limit = limit;
      this.askers = askers;
    }

    @Override
    public Scheduler clock() {
      return nodeContext.clock();
    }

    @Override
    public Duration limit() {
      return limit;
    }

    @Override
    public List<String> askers() {
      return askers;
    }

    @Override
    public boolean beginSend() {
      stamp = lock.tryReadLock(); // 0 if the route is being closed
      if (stamp != 0 && isClosed) onSent();
      return stamp != 0;
    }

    @Override
    public void onSent() {
      long heldStamp = stamp;
      stamp = 0;
      if (heldStamp != 0) lock.unlockRead(heldStamp);
    }

    @Override
    public Object encode(Object answer) {
      byte[] bytes = Protocol.encodeAnswer(request, answer);
      int maxBytes = nodeContext.transport().maxBodyBytes();
      if (bytes.length > maxBytes) throw new IllegalArgumentException("the answer to a " + request.getClass().getName()
          + " has " + bytes.length + " bytes; at most " + maxBytes + " can be sent");
      return bytes;
    }

    @Override
    public Object encodeFailure(Throwable failure) {
      return new Failed(failure);
    }
  }
}
