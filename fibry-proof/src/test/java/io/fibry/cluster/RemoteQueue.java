package io.fibry.cluster;

import io.fibry.Actor;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.pubsub.Subscription;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * A queue of a {@link RemoteNetwork}, as a machine sees it; for threads of a simulation. If the
 * machine of an item sends no heartbeat for a while, the servers give the item to another machine.
 * A silent machine gets no new items.
 */
final class RemoteQueue implements ClusterTransport.Queue {
  // After this time without a heartbeat the servers release a machine's items
  static final Duration HEARTBEAT_LIMIT = Duration.ofSeconds(15);
  // A machine that is silent for longer gets no more items
  private static final Duration SILENCE_LIMIT = Duration.ofSeconds(5);
  private static final Duration HEARTBEAT_INTERVAL = Duration.ofSeconds(2);

  private final RemoteMachineTransport remote;
  private final Machine machine;
  private final ClusterTransport.Queue servers;
  private final List<QueueSubscription> subscriptions; // of all machines; used by the servers

  /** @param subscriptions the subscriptions of all machines to this queue */
  RemoteQueue(RemoteMachineTransport remote, Machine machine, ClusterTransport.Queue servers,
      List<QueueSubscription> subscriptions) {
    this.remote = remote;
    this.machine = machine;
    this.servers = servers;
    this.subscriptions = subscriptions;
  }

  @Override
  public void put(String id, byte[] work) {
    remote.call("put", () -> {
      servers.put(id, work);
      return true;
    });
  }

  @Override
  public List<ClusterTransport.PendingWork> list(long from, int maxItems) {
    return remote.call("list", () -> servers.list(from, maxItems));
  }

  @Override
  public boolean remove(long number) {
    return remote.call("remove", () -> servers.remove(number));
  }

  @Override
  public long size() {
    return remote.call("size", servers::size);
  }

  @Override
  public Subscription take(int maxItems, Consumer<ClusterTransport.WorkItem> worker) {
    var subscription = new QueueSubscription(maxItems, worker);
    return remote.call("take", () -> {
      subscriptions.add(subscription);
      return subscription;
    }).start();
  }

  /** The subscription of one machine to the queue. */
  final class QueueSubscription implements Subscription {
    private final int maxItems;
    private final Consumer<ClusterTransport.WorkItem> worker;
    private final Consumer<Runnable> toMachine;
    private final Set<HeldItem> heldItems = new LinkedHashSet<>(); // used by the machine
    private final Actor<String> heartbeats; // on the machine
    private boolean closed; // used by the machine
    // The time of the last heartbeat of each item; used by the servers
    private final Map<ClusterTransport.WorkItem, Long> lastHeartbeats = new LinkedHashMap<>();
    private Subscription serverSubscription; // null if the machine gets no items; used by the servers
    private int openedItems; // max items at once; used by the servers
    private boolean hasEnded; // used by the servers
    private long lastHeartbeat; // time of the last heartbeat; used by the servers

    private QueueSubscription(int maxItems, Consumer<ClusterTransport.WorkItem> worker) {
      this.maxItems = maxItems;
      this.worker = worker;
      this.toMachine = remote.toMachine(new DelayedLine(machine.scope()));
      this.heartbeats = machine.scope().anonymous().newActor((String tick) -> sendHeartbeat());
    }

    // ---- on the machine

    private QueueSubscription start() {
      heartbeats.sendMessage("first");
      heartbeats.sendMessageEvery("beat", HEARTBEAT_INTERVAL);
      return this;
    }

    private void sendHeartbeat() {
      if (remote.isClosed() || (closed && heldItems.isEmpty())) {
        heartbeats.sendPoisonPill();
        return;
      }
      var items = heldItems.stream().map(HeldItem::item).toList();
      boolean isLast = closed;
      sendIfConnected(() -> onHeartbeat(items, isLast));
    }

    private void sendIfConnected(Runnable code) {
      try {
        remote.send(code);
      } catch (TransportException cut) {
        // the servers release the items after a while
      }
    }

    private void onArrival(ClusterTransport.WorkItem item) {
      var heldItem = new HeldItem(this, item);
      heldItems.add(heldItem);
      if (closed) heldItem.release(Duration.ZERO);
      else worker.accept(heldItem);
    }

    private boolean acknowledgeItem(ClusterTransport.WorkItem item) {
      return remote.call("done", () -> lastHeartbeats.remove(item) != null && item.acknowledge());
    }

    @Override
    public void close() {
      closed = true;
      sendIfConnected(this::end);
    }

    // ---- on the servers

    private void onHeartbeat(List<ClusterTransport.WorkItem> items, boolean isLast) {
      long now = System.nanoTime();
      lastHeartbeat = now;
      for (var item : items) lastHeartbeats.computeIfPresent(item, (key, previous) -> now);
      if (isLast) end();
      for (var subscription : subscriptions)
        if (now - subscription.lastHeartbeat > SILENCE_LIMIT.toNanos()) subscription.stop();
      for (var subscription : subscriptions) subscription.releaseLost(now);
      if (!hasEnded) take(items);
    }

    private void take(List<ClusterTransport.WorkItem> items) {
      var busyItems = new HashSet<>(lastHeartbeats.keySet());
      busyItems.addAll(items);
      if (openedItems < maxItems && busyItems.isEmpty()) stop();
      if (serverSubscription != null || busyItems.size() >= maxItems) return;
      openedItems = maxItems - busyItems.size();
      serverSubscription = servers.take(openedItems, item -> {
        lastHeartbeats.put(item, System.nanoTime());
        toMachine.accept(() -> onArrival(item));
      });
    }

    private void releaseLost(long now) {
      var lostItems = new ArrayList<ClusterTransport.WorkItem>();
      lastHeartbeats.forEach((item, last) -> {
        if (now - last > HEARTBEAT_LIMIT.toNanos()) lostItems.add(item);
      });
      for (var item : lostItems) releaseItem(item, Duration.ZERO);
    }

    private void stop() {
      if (serverSubscription != null) serverSubscription.close();
      serverSubscription = null;
    }

    private void end() {
      hasEnded = true;
      stop();
    }

    private void releaseItem(ClusterTransport.WorkItem item, Duration delay) {
      if (lastHeartbeats.remove(item) != null) item.release(delay);
    }
  }

  private record HeldItem(QueueSubscription subscription, ClusterTransport.WorkItem item)
      implements ClusterTransport.WorkItem {
    @Override
    public long number() {
      return item.number();
    }

    @Override
    public byte[] work() {
      return item.work();
    }

    @Override
    public int attempts() {
      return item.attempts();
    }

    @Override
    public boolean acknowledge() {
      try {
        return subscription.acknowledgeItem(item);
      } catch (TransportException unknown) {
        return false;
      } finally {
        subscription.heldItems.remove(this);
      }
    }

    @Override
    public void release(Duration delay) {
      subscription.sendIfConnected(() -> subscription.releaseItem(item, delay));
      subscription.heldItems.remove(this);
    }
  }
}
