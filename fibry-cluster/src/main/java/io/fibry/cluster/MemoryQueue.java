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
 * Work of a {@link MemoryNetwork}. When the connection of a node ends, pieces that it has taken can
 * be taken again. Its fields are under the object's own monitor.
 */
final class MemoryQueue {
  private static final long IDS_KNOWN = Duration.ofMinutes(2).toNanos();

  private static final class QueuedWork {
    private final long number;
    private final byte[] bytes;
    private int times; // taken

    QueuedWork(long number, byte[] bytes) {
      this.number = number;
      this.bytes = bytes;
    }
  }

  /** The taking of one node. */
  private final class MemoryConsumer implements Subscription {
    private final MemoryTransport engine;
    private final int maxParallel;
    private final Actor<WorkItem> actor;
    private final Set<QueuedWork> taken = new LinkedHashSet<>();

    MemoryConsumer(MemoryTransport engine, int max, Consumer<WorkItem> worker) {
      this.engine = engine;
      this.maxParallel = max;
      this.actor = ActorSystem.anonymous().onFailure(FailurePolicy.resume()).newActor(worker::accept);
    }

    /** Under the monitor. */
    void tryDeliver(QueuedWork work) {
      work.times++;
      taken.add(work);
      actor.sendMessage(new MemoryWorkItem(this, work));
    }

    @Override
    public void close() {
      stop(this);
      actor.sendPoisonPill(); // behind what it was given
    }
  }

  private final class MemoryWorkItem implements WorkItem {
    private final MemoryConsumer taking;
    private final QueuedWork work;
    private final int times;

    MemoryWorkItem(MemoryConsumer taking, QueuedWork work) {
      this.taking = taking;
      this.work = work;
      this.times = work.times;
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
      return times;
    }

    @Override
    public boolean acknowledge() {
      return end(taking, work);
    }

    @Override
    public void release(Duration later) {
      giveBack(taking, work, later);
    }
  }

  private final Scheduler clock;
  private final Map<String, Long> ids = new LinkedHashMap<>(); // and since when; the oldest first
  private final TreeMap<Long, QueuedWork> allWork = new TreeMap<>(); // by number
  private final TreeMap<Long, QueuedWork> availableWork = new TreeMap<>(); // pieces that can be taken
  private final List<MemoryConsumer> consumers = new ArrayList<>(); // the taker that gets the next piece comes first
  private long last; // number

  MemoryQueue(Scheduler clock) {
    this.clock = clock;
  }

  synchronized void put(String id, byte[] bytes) {
    long now = clock.nanoTime();
    forget(now);
    if (ids.putIfAbsent(id, now) != null) return;
    var work = new QueuedWork(++last, bytes.clone());
    allWork.put(work.number, work);
    release(work);
  }

  private void forget(long now) {
    var oldest = ids.values().iterator();
    while (oldest.hasNext() && now - oldest.next() > IDS_KNOWN) oldest.remove();
  }

  /** It can be taken, unless it was removed. */
  private void release(QueuedWork work) {
    if (allWork.containsKey(work.number)) availableWork.put(work.number, work);
    distribute();
  }

  private void distribute() {
    while (!availableWork.isEmpty()) {
      var idle = consumers.stream().filter(one -> one.taken.size() < one.maxParallel).findFirst();
      if (idle.isEmpty()) return;
      consumers.remove(idle.get());
      consumers.add(idle.get());
      idle.get().tryDeliver(availableWork.pollFirstEntry().getValue());
    }
  }

  synchronized Subscription take(MemoryTransport engine, int max, Consumer<WorkItem> worker) {
    var taking = new MemoryConsumer(engine, max, worker);
    consumers.add(taking);
    distribute();
    return taking;
  }

  private synchronized void stop(MemoryConsumer taking) {
    consumers.remove(taking);
    if (!taking.engine.isClosed()) return; // a piece that is being worked on is finished
    var left = List.copyOf(taking.taken);
    taking.taken.clear();
    left.forEach(this::release);
  }

  /** Returns false if the piece was given back before. */
  private synchronized boolean end(MemoryConsumer taking, QueuedWork work) {
    if (!taking.taken.remove(work)) return false;
    allWork.remove(work.number);
    distribute();
    return true;
  }

  private synchronized void giveBack(MemoryConsumer taking, QueuedWork work, Duration later) {
    if (!taking.taken.remove(work)) return;
    if (later.isPositive()) clock.schedule(later, () -> releaseNow(work));
    else release(work);
    distribute();
  }

  private synchronized void releaseNow(QueuedWork work) {
    release(work);
  }

  synchronized List<PendingWork> list(long from, int max) {
    return allWork.tailMap(from).values().stream().limit(max)
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
  ClusterTransport.Queue of(MemoryTransport engine) {
    return new ClusterTransport.Queue() {
      @Override
      public void put(String id, byte[] work) {
        WireMessage.to("a queue", Map.of(), work).checkSize(engine.maxBodyBytes());
        checked().put(id, work);
      }

      private MemoryQueue checked() {
        engine.checkOpen();
        return MemoryQueue.this;
      }

      @Override
      public Subscription take(int max, Consumer<WorkItem> worker) {
        return engine.opened(checked().take(engine, max, worker));
      }

      @Override
      public List<PendingWork> list(long from, int max) {
        return checked().list(from, max);
      }

      @Override
      public boolean remove(long number) {
        return checked().remove(number);
      }

      @Override
      public long size() {
        return checked().size();
      }
    };
  }
}
