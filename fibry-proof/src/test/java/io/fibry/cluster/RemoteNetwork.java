package io.fibry.cluster;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.cluster.LostException.Loss;
import io.fibry.pubsub.Subscription;
import io.fibry.store.Store;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * A {@link MemoryNetwork} on its own machine: what nodes say to it takes time, keeps its order,
 * and is dropped while a node is cut off or has crashed. So no crash leaves the network's monitors
 * locked. The store is another machine, which a node that is cut off still reaches: it must fence.
 * For threads of a simulation.
 */
final class RemoteNetwork implements Network {
  private static final Duration PATIENCE = Duration.ofSeconds(2); // of calls that wait for an answer

  private final SplittableRandom random;
  private final ActorScope servers;
  private final MemoryNetwork network = MemoryNetwork.create();
  private final Map<String, ActorScope> machines = new HashMap<>(); // by node
  private final Set<String> cut = new HashSet<>(); // nodes

  RemoteNetwork(SplittableRandom random, ActorScope servers) {
    this.random = random;
    this.servers = servers;
  }

  /** @param scope of the node's machine */
  void add(String node, ActorScope scope) {
    machines.put(node, scope);
  }

  void cut(String node) {
    cut.add(node);
  }

  void heal() {
    cut.clear();
  }

  @Override
  public Engine connect(String app, String node) {
    return new Remote(node, machines.get(node));
  }

  private static Actor<Runnable> line(ActorScope scope) {
    return scope.anonymous().newActor((Runnable code) -> code.run());
  }

  /** A node's connection. */
  private final class Remote implements Engine {
    private final String node;
    private final ActorScope machine;
    private final Actor<Runnable> out = line(servers);
    private final Engine engine = network.engine();
    private final Store store = engine.store();
    private volatile boolean closed;

    Remote(String node, ActorScope machine) {
      this.node = node;
      this.machine = machine;
    }

    // ---- on the way

    private void pass() {
      try {
        Thread.sleep(random.nextInt(4));
      } catch (InterruptedException stray) {
        Thread.currentThread().interrupt();
      }
    }

    /** To the servers, in order. */
    private void send(Runnable code) {
      if (closed) throw new LostException(Loss.CUT, "the connection is closed");
      out.sendMessage(() -> {
        pass();
        if (!cut.contains(node)) code.run();
      });
    }

    /** From the servers to this node, in the order of one subscription. */
    private Consumer<Runnable> arrivals() {
      var way = line(servers);
      var here = line(machine);
      return code -> way.sendMessage(() -> {
        pass();
        if (!cut.contains(node)) here.sendMessage(code);
      });
    }

    private <T> T call(String what, Supplier<T> code) {
      var answer = new CompletableFuture<T>();
      send(() -> {
        var result = code.get();
        pass();
        if (!cut.contains(node)) answer.complete(result);
      });
      try {
        return answer.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
      } catch (TimeoutException late) {
        throw new LostException(Loss.UNKNOWN, what + ": no answer");
      } catch (InterruptedException interrupt) {
        Thread.currentThread().interrupt();
        throw new LostException(Loss.UNKNOWN, "its thread was interrupted");
      } catch (Exception failure) {
        throw new IllegalStateException(failure);
      }
    }

    // ---- messages

    @Override
    public void publish(Wire message) {
      message.checkSize(mostBytes());
      send(() -> engine.publish(message));
    }

    @Override
    public CompletionStage<Wire> request(Wire message, Duration limit) {
      message.checkSize(mostBytes());
      var answer = new CompletableFuture<Wire>();
      var timer = Scheduler.system().after(limit, () -> answer
          .completeExceptionally(new LostException(Loss.LATE, "no answer from " + message.subject() + " in time")));
      answer.whenComplete((wire, failure) -> timer.cancel());
      var back = arrivals();
      try {
        send(() -> engine.request(message, limit).whenComplete((wire, failure) -> back.accept(() -> {
          if (failure == null) answer.complete(wire);
          else answer.completeExceptionally(failure);
        })));
      } catch (LostException closed) {
        answer.completeExceptionally(closed);
      }
      return answer;
    }

    @Override
    public Subscription subscribe(String subject, Optional<String> group, Consumer<Wire> reader) {
      var arrivals = arrivals();
      var one = call("subscribe " + subject,
          () -> engine.subscribe(subject, group, wire -> arrivals.accept(() -> reader.accept(wire))));
      return () -> end(one);
    }

    private void end(Subscription one) {
      if (!closed) send(() -> Thread.startVirtualThread(one::close));
    }

    // ---- the table

    @Override
    public OptionalLong create(String key, byte[] value, Duration lease) {
      return call("create " + key, () -> engine.create(key, value, lease));
    }

    @Override
    public OptionalLong update(String key, byte[] value, long version, Duration lease) {
      return call("update " + key, () -> engine.update(key, value, version, lease));
    }

    @Override
    public boolean delete(String key, long version) {
      return call("delete " + key, () -> engine.delete(key, version));
    }

    @Override
    public Optional<Entry> get(String key) {
      return call("get " + key, () -> engine.get(key));
    }

    /** News are late while the node is cut off, and never lost. */
    @Override
    public Subscription watch(String prefix, Consumer<Entry> reader) {
      var way = line(servers);
      var here = line(machine);
      var one = call("watch " + prefix, () -> engine.watch(prefix, entry -> way.sendMessage(() -> {
        do pass();
        while (cut.contains(node));
        here.sendMessage(() -> reader.accept(entry));
      })));
      return () -> end(one);
    }

    // ---- the rest

    @Override
    public Store store() {
      return store;
    }

    @Override
    public Queue queue(String subject) {
      throw new UnsupportedOperationException("work has its own tests");
    }

    @Override
    public Optional<String> trouble() {
      return cut.contains(node) ? Optional.of("the connection is cut") : Optional.empty();
    }

    @Override
    public int mostBytes() {
      return engine.mostBytes();
    }

    @Override
    public void close() {
      if (closed) return;
      closed = true;
      out.sendMessage(() -> Thread.startVirtualThread(engine::close));
    }
  }
}
