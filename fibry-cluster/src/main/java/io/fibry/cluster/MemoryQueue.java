package io.fibry.cluster;

import io.fibry.Actor;
import io.fibry.ActorSystem;
import io.fibry.FailurePolicy;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.cluster.spi.ClusterTransport.PendingWork;
import io.fibry.cluster.spi.ClusterTransport.WorkItem;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.pubsub.Subscription;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * A work queue of a {@link MemoryNetwork}. When the connection of a node ends, the unfinished
 * pieces of that node can be taken again. Fields are guarded by the monitor of this object. The
 * clock may be code of a user, and is called outside of the monitor.
 */
final class MemoryQueue {
  private static final long ID_RETENTION_NANOS = Duration.ofMinutes(2).toNanos();

  private static final class QueuedWork {
    private final long number;
    private final byte[] bytes;
    private int attempts; // how often it was taken

    QueuedWork(long number, byte[] bytes) {
      this.number = number;
      this.bytes = bytes;
    }
  }

  /** Takes work for one node. */
  private final class MemoryConsumer implements Subscription {
    private final MemoryTransport transport;
    private final int maxParallel;
    private final Actor<WorkItem> actor;
    private final Set<QueuedWork> takenWork = new LinkedHashSet<>();

    MemoryConsumer(MemoryTransport transport, int maxParallel, Consumer<WorkItem> worker) {
      this.transport = transport;
      this.maxParallel = maxParallel;
      this.actor = ActorSystem.anonymous().onFailure(FailurePolicy.resume()).newActor(worker::accept);
    }

    /** Gives the work to the node. Called under the monitor. */
    void deliver(QueuedWork work) {
      work.attempts++;
      takenWork.add(work);
      actor.sendMessage(new MemoryWorkItem(this, work));
    }

    @Override
    public void close() {
      stop(this);
      actor.sendPoisonPill(); // the actor ends after the pieces in its mailbox
    }
  }

  private final class MemoryWorkItem implements WorkItem {
    private final MemoryConsumer consumer;
    private final QueuedWork work;
    private final int attempts;

    MemoryWorkItem(MemoryConsumer consumer, QueuedWork work) {
      this.consumer = consumer;
      this.work = work;
      this.attempts = work.attempts;
    }

    @Override
    public long number() {
      return work.number;
    }

    @Override
    public byte[] work() {
      return work.bytes.clone();
    }

    @Override
    public int attempts() {
      return attempts;
    }

    @Override
    public boolean acknowledge() {
      return end(consumer, work);
    }

    @Override
    public void release(Duration delay) {
      giveBack(consumer, work, delay);
    }
  }

  private final Scheduler clock;
  private final Map<String, Long> putTimes = new LinkedHashMap<>(); // by id, in nanoseconds; the oldest first
  private final TreeMap<Long, QueuedWork> allWork = new TreeMap<>(); // by number; includes taken pieces
  private final TreeMap<Long, QueuedWork> availableWork = new TreeMap<>(); // by number; only pieces that can be taken
  private final List<MemoryConsumer> consumers = new ArrayList<>(); // the next piece goes to the first with capacity
  private long lastNumber;

  MemoryQueue(Scheduler clock) {
    this.clock = clock;
  }

  void put(String id, byte[] bytes) {
    put(id, bytes, clock.nanoTime());
  }

  private synchronized void put(String id, byte[] bytes, long now) {
    forgetOldIds(now);
    if (putTimes.putIfAbsent(id, now) != null) return;
    var work = new QueuedWork(++lastNumber, bytes.clone());
    allWork.put(work.number, work);
    release(work);
  }

  private void forgetOldIds(long now) {
    var oldest = putTimes.values().iterator();
    while (oldest.hasNext() && now - oldest.next() > ID_RETENTION_NANOS) oldest.remove();
  }

  /** Makes a piece available, unless it was removed. */
  private synchronized void release(QueuedWork work) {
    if (allWork.containsKey(work.number)) availableWork.put(work.number, work);
    distribute();
  }

  private void distribute() {
    while (!availableWork.isEmpty()) {
      var taker = consumers.stream().filter(consumer -> consumer.takenWork.size() < consumer.maxParallel).findFirst();
      if (taker.isEmpty()) return;
      consumers.remove(taker.get());
      consumers.add(taker.get());
      taker.get().deliver(availableWork.pollFirstEntry().getValue());
    }
  }

  synchronized Subscription take(MemoryTransport transport, int maxParallel, Consumer<WorkItem> worker) {
    var consumer = new MemoryConsumer(transport, maxParallel, worker);
    consumers.add(consumer);
    distribute();
    return consumer;
  }

  private synchronized void stop(MemoryConsumer consumer) {
    consumers.remove(consumer);
    if (!consumer.transport.isClosed()) return; // the node is connected, and finishes the pieces that it has taken
    var unfinishedWork = List.copyOf(consumer.takenWork);
    consumer.takenWork.clear();
    unfinishedWork.forEach(this::release);
  }

  /**
   * Removes a piece that is done. Returns false if the consumer does not have the piece any more.
   */
  private synchronized boolean end(MemoryConsumer consumer, QueuedWork work) {
    if (!consumer.takenWork.remove(work)) return false;
    allWork.remove(work.number);
    distribute();
    return true;
  }

  private void giveBack(MemoryConsumer consumer, QueuedWork work, Duration delay) {
    if (!takeFrom(consumer, work, !delay.isPositive()) || !delay.isPositive()) return;
    boolean isDelayed = false;
    try {
      clock.schedule(delay, () -> release(work));
      isDelayed = true;
    } finally { // if the clock throws, the work is available at once
      if (!isDelayed) release(work);
    }
  }

  /**
   * Takes a piece from its consumer, which then has capacity for another piece. Returns false if
   * the consumer does not have the piece any more.
   */
  private synchronized boolean takeFrom(MemoryConsumer consumer, QueuedWork work, boolean isAvailable) {
    if (!consumer.takenWork.remove(work)) return false;
    if (isAvailable) release(work);
    else distribute();
    return true;
  }

  synchronized List<PendingWork> list(long minNumber, int maxPieces) {
    return allWork.tailMap(minNumber).values().stream().limit(maxPieces)
        .map(work -> new PendingWork(work.number, work.bytes.clone()))
        .toList();
  }

  synchronized boolean remove(long number) {
    availableWork.remove(number);
    return allWork.remove(number) != null;
  }

  synchronized long size() {
    return allWork.size();
  }

  /** Returns the queue as a node sees it. */
  ClusterTransport.Queue viewFor(MemoryTransport transport) {
    return new ClusterTransport.Queue() {
      @Override
      public void put(String id, byte[] work) {
        WireMessage.oneWay("a queue", Map.of(), work).checkSize(transport.maxBodyBytes());
        openQueue().put(id, work);
      }

      private MemoryQueue openQueue() {
        transport.checkOpen();
        return MemoryQueue.this;
      }

      @Override
      public Subscription take(int maxParallel, Consumer<WorkItem> worker) {
        return transport.register(openQueue().take(transport, maxParallel, worker));
      }

      @Override
      public List<PendingWork> list(long minNumber, int maxPieces) {
        return openQueue().list(minNumber, maxPieces);
      }

      @Override
      public boolean remove(long number) {
        return openQueue().remove(number);
      }

      @Override
      public long size() {
        return openQueue().size();
      }
    };
  }
}
