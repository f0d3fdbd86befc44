package io.fibry.cluster;

import io.fibry.cluster.TransportException.Failure;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.pubsub.Subscription;
import io.fibry.store.Store;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * A machine's connection to a {@link RemoteNetwork}. Code for the servers runs on theirs, so that
 * no crash leaves one of their monitors locked. For threads of a simulation.
 */
final class Remote implements ClusterTransport {
  static final Duration PATIENCE = Duration.ofSeconds(2); // of calls that wait for an answer

  /** @param due when it is here */
  private record Answer<T>(T value, long due) {}

  private final RemoteNetwork network;
  private final Machine machine;
  private final Routes servers;
  private final Line out; // to the servers
  private final Store store;
  private boolean closed;

  /** @param servers as code on their machine sees them */
  Remote(RemoteNetwork network, Machine machine, Routes servers) {
    this.network = network;
    this.machine = machine;
    this.servers = servers;
    this.out = network.toServers();
    this.store = RemoteStore.of(network, machine, servers.store());
  }

  // ---- on the way

  boolean isClosed() {
    return closed;
  }

  private void checkConnected() {
    if (closed) throw new TransportException(Failure.DISCONNECTED, "the connection is closed");
    if (machine.isCut() && network.knows()) throw new TransportException(Failure.DISCONNECTED, "the connection is cut");
  }

  /** Runs code on the servers, unless it is lost on the way. */
  void send(Runnable code) {
    checkConnected();
    out.add(network.delay(), () -> {
      if (!machine.isCut() && !network.loses()) code.run();
    });
  }

  /** Returns the way to this machine. */
  Consumer<Runnable> back(Line in) {
    return code -> {
      if (!machine.isCut()) in.add(network.delay(), () -> {
        if (!machine.isCut()) code.run();
      });
    };
  }

  /**
   * The call may be executed although its answer does not come, and the machine may be paused
   * meanwhile.
   */
  <T> T call(String what, Supplier<T> code) {
    checkConnected();
    var answer = new CompletableFuture<Answer<T>>();
    out.add(network.delay(), () -> {
      if (machine.isCut()) return;
      var value = code.get();
      network.mayPause(machine);
      if (!network.isUnknown()) answer.complete(new Answer<>(value, System.nanoTime() + network.delay()));
    });
    return awaited(what, answer);
  }

  private <T> T awaited(String what, CompletableFuture<Answer<T>> answer) {
    try {
      var come = answer.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
      Line.sleepUntil(come.due);
      if (!machine.isCut()) return come.value;
      Line.sleepUntil(System.nanoTime() + PATIENCE.toNanos());
      throw new TransportException(Failure.UNKNOWN, what + ": its answer was lost");
    } catch (TimeoutException late) {
      throw new TransportException(Failure.UNKNOWN, what + ": no answer");
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw new TransportException(Failure.UNKNOWN, "its thread was interrupted");
    } catch (ExecutionException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  // ---- messages

  @Override
  public void publish(WireMessage message) {
    message.checkSize(maxBodyBytes());
    send(() -> servers.publish(message));
  }

  @Override
  public CompletionStage<WireMessage> request(WireMessage message, Duration limit) {
    message.checkSize(maxBodyBytes());
    var answer = new CompletableFuture<WireMessage>();
    var timer = Scheduler.system().schedule(limit, () -> answer
        .completeExceptionally(
            new TransportException(Failure.TIMED_OUT, "no answer from " + message.subject() + " in time")));
    answer.whenComplete((wire, failure) -> timer.cancel());
    var back = back(new Line(machine.scope()));
    try {
      send(() -> servers.request(message, limit).whenComplete((wire, failure) -> back.accept(() -> {
        if (failure == null) answer.complete(wire);
        else answer.completeExceptionally(failure);
      })));
      if (network.isUnknown())
        answer.completeExceptionally(new TransportException(Failure.UNKNOWN, "the connection broke meanwhile"));
    } catch (TransportException cut) {
      answer.completeExceptionally(cut);
    }
    return answer;
  }

  @Override
  public Subscription subscribe(String subject, Optional<String> group, Consumer<WireMessage> reader) {
    var in = servers.lines(machine.scope());
    var ended = new AtomicBoolean(); // though the servers may not have heard of it
    Routes.Reader there = (server, wire) -> back(in.get(server)).accept(() -> {
      if (!ended.get()) reader.accept(wire);
    });
    var one = call("subscribe " + subject, () -> servers.subscribe(subject, group, there));
    return () -> {
      end(one);
      in.forEach(Line::await);
      ended.set(true);
    };
  }

  private void end(Subscription one) {
    if (closed) return;
    try {
      call("unsubscribe", () -> {
        one.close();
        return true;
      });
    } catch (TransportException cut) {
      // so it ends with the connection
    }
  }

  // ---- the table

  @Override
  public OptionalLong create(String key, byte[] value, Duration lease) {
    return call("create " + key, () -> servers.create(key, value, lease));
  }

  @Override
  public OptionalLong update(String key, byte[] value, long version, Duration lease) {
    return call("update " + key, () -> servers.update(key, value, version, lease));
  }

  @Override
  public boolean delete(String key, long version) {
    return call("delete " + key, () -> servers.delete(key, version));
  }

  @Override
  public Optional<Entry> get(String key) {
    return call("get " + key, () -> servers.get(key));
  }

  /** News are late while the machine is cut off, and never lost. */
  @Override
  public Subscription watch(String prefix, Consumer<Entry> reader) {
    var in = new Line(machine.scope());
    var one = call("watch " + prefix,
        () -> servers.watch(prefix, entry -> in.add(network.delayOfNews(), () -> {
          while (machine.untilNews() > 0) Line.sleepUntil(System.nanoTime() + machine.untilNews());
          if (!closed) reader.accept(network.told(entry));
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
    return new RemoteQueue(this, machine, servers.queue(subject), network.takings(subject));
  }

  @Override
  public Optional<String> connectionProblem() {
    return machine.isCut() ? Optional.of("the connection is cut") : Optional.empty();
  }

  @Override
  public int maxBodyBytes() {
    return servers.mostBytes();
  }

  @Override
  public void close() {
    if (closed) return;
    closed = true;
    store.close();
    out.add(network.delay(), () -> Thread.startVirtualThread(servers::close));
  }
}
