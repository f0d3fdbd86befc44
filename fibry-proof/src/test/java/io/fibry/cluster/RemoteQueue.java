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
 * A queue of a {@link RemoteNetwork}, as a machine sees it. The servers give a piece to others when
 * the machine that has it sends no heartbeat for a while, and give none to a machine that is
 * silent. For threads of a simulation.
 */
final class RemoteQueue implements ClusterTransport.Queue {
  static final Duration GIVEN_UP = Duration.ofSeconds(15); // without a heartbeat
  private static final Duration SILENT = Duration.ofSeconds(5); // such a machine gets no more pieces
  private static final Duration BEAT = Duration.ofSeconds(2);

  private final Remote remote;
  private final Machine machine;
  private final ClusterTransport.Queue servers;
  private final List<Taking> all; // of all machines; used by the servers

  /** @param all the takings of this queue, of all machines */
  RemoteQueue(Remote remote, Machine machine, ClusterTransport.Queue servers, List<Taking> all) {
    this.remote = remote;
    this.machine = machine;
    this.servers = servers;
    this.all = all;
  }

  @Override
  public void put(String id, byte[] work) {
    remote.call("put", () -> {
      servers.put(id, work);
      return true;
    });
  }

  @Override
  public List<ClusterTransport.PendingWork> list(long from, int most) {
    return remote.call("list", () -> servers.list(from, most));
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
  public Subscription take(int most, Consumer<ClusterTransport.WorkItem> worker) {
    var taking = new Taking(most, worker);
    return remote.call("take", () -> {
      all.add(taking);
      return taking;
    }).begin();
  }

  /** The pieces that one machine takes. */
  final class Taking implements Subscription {
    private final int most;
    private final Consumer<ClusterTransport.WorkItem> worker;
    private final Consumer<Runnable> back;
    private final Set<Taken> hands = new LinkedHashSet<>(); // used by the machine
    private final Actor<String> beats; // on the machine
    private boolean closed; // used by the machine
    // the last heartbeats; used by the servers
    private final Map<ClusterTransport.WorkItem, Long> out = new LinkedHashMap<>();
    private Subscription open; // null if it gets no pieces; used by the servers
    private int opened; // pieces at once; used by the servers
    private boolean ended; // used by the servers
    private long heard; // used by the servers

    private Taking(int most, Consumer<ClusterTransport.WorkItem> worker) {
      this.most = most;
      this.worker = worker;
      this.back = remote.back(new Line(machine.scope()));
      this.beats = machine.scope().anonymous().newActor((String tick) -> beat());
    }

    // ---- on the machine

    private Taking begin() {
      beats.sendMessage("first");
      beats.sendMessageEvery("beat", BEAT);
      return this;
    }

    private void beat() {
      if (remote.isClosed() || (closed && hands.isEmpty())) {
        beats.sendPoisonPill();
        return;
      }
      var inHand = hands.stream().map(Taken::piece).toList();
      boolean last = closed;
      leave(() -> hear(inHand, last));
    }

    private void leave(Runnable code) {
      try {
        remote.send(code);
      } catch (TransportException cut) {
        // the servers do without it
      }
    }

    private void arrive(ClusterTransport.WorkItem piece) {
      var taken = new Taken(this, piece);
      hands.add(taken);
      if (closed) taken.release(Duration.ZERO);
      else worker.accept(taken);
    }

    private boolean isDone(ClusterTransport.WorkItem piece) {
      return remote.call("done", () -> out.remove(piece) != null && piece.acknowledge());
    }

    @Override
    public void close() {
      closed = true;
      leave(this::end);
    }

    // ---- on the servers

    private void hear(List<ClusterTransport.WorkItem> inHand, boolean last) {
      long now = System.nanoTime();
      heard = now;
      for (var piece : inHand) out.computeIfPresent(piece, (same, before) -> now);
      if (last) end();
      for (var one : all) if (now - one.heard > SILENT.toNanos()) one.stop();
      for (var one : all) one.giveUp(now);
      if (!ended) take(inHand);
    }

    private void take(List<ClusterTransport.WorkItem> inHand) {
      var busy = new HashSet<>(out.keySet());
      busy.addAll(inHand);
      if (opened < most && busy.isEmpty()) stop();
      if (open != null || busy.size() >= most) return;
      opened = most - busy.size();
      open = servers.take(opened, piece -> {
        out.put(piece, System.nanoTime());
        back.accept(() -> arrive(piece));
      });
    }

    private void giveUp(long now) {
      var silent = new ArrayList<ClusterTransport.WorkItem>();
      out.forEach((piece, last) -> {
        if (now - last > GIVEN_UP.toNanos()) silent.add(piece);
      });
      for (var piece : silent) again(piece, Duration.ZERO);
    }

    private void stop() {
      if (open != null) open.close();
      open = null;
    }

    private void end() {
      ended = true;
      stop();
    }

    private void again(ClusterTransport.WorkItem piece, Duration later) {
      if (out.remove(piece) != null) piece.release(later);
    }
  }

  private record Taken(Taking taking, ClusterTransport.WorkItem piece) implements ClusterTransport.WorkItem {
    @Override
    public long number() {
      return piece.number();
    }

    @Override
    public byte[] work() {
      return piece.work();
    }

    @Override
    public int attempts() {
      return piece.attempts();
    }

    @Override
    public boolean acknowledge() {
      try {
        return taking.isDone(piece);
      } catch (TransportException unknown) {
        return false;
      } finally {
        taking.hands.remove(this);
      }
    }

    @Override
    public void release(Duration later) {
      taking.leave(() -> taking.again(piece, later));
      taking.hands.remove(this);
    }
  }
}
