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
 * A machine's connection to a {@link RemoteNetwork}, for threads of a simulation. The code of the
 * servers runs on the servers' machine, so that a crash of the node's machine leaves no monitor of
 * the servers locked.
 */
final class RemoteMachineTransport implements ClusterTransport {
  private static final Duration DELETION_MEMORY = Duration.ofHours(1);
  static final Duration ANSWER_LIMIT = Duration.ofSeconds(2); // how long a call waits for an answer

  /** @param due the time at which the answer arrives */
  private record Answer<T>(T value, long due) {}

  private final RemoteNetwork network;
  private final Machine machine;
  private final Routes servers;
  private final DelayedLine toServers;
  private final Store store;
  private boolean closed;

  /** @param servers the servers; called only by code that runs on the servers' machine */
  RemoteMachineTransport(RemoteNetwork network, Machine machine, Routes servers) {
    this.network = network;
    this.machine = machine;
    this.servers = servers;
    this.toServers = network.toServers();
    this.store = RemoteStore.of(network, machine, servers.store());
  }

  // ---- delivery

  boolean isClosed() {
    return closed;
  }

  private void checkConnected() {
    if (closed) throw new TransportException(Failure.DISCONNECTED, "the connection is closed");
    if (machine.isCut() && network.isCutKnown())
      throw new TransportException(Failure.DISCONNECTED, "the connection is cut");
  }

  /** Runs code on the servers, unless the message to them is lost. */
  void send(Runnable code) {
    checkConnected();
    toServers.add(network.delay(), () -> {
      if (!machine.isCut() && !network.isMessageLost()) code.run();
    });
  }

  /**
   * Returns an executor that runs code on this machine after a delay, unless the message is lost.
   */
  Consumer<Runnable> toMachine(DelayedLine lines) {
    return code -> {
      if (!machine.isCut()) lines.add(network.delay(), () -> {
        if (!machine.isCut()) code.run();
      });
    };
  }

  /**
   * Calls the servers, and waits for their answer. The call may be executed although no answer
   * arrives, and the machine may be paused meanwhile.
   */
  <T> T call(String description, Supplier<T> code) {
    checkConnected();
    var answer = new CompletableFuture<Answer<T>>();
    toServers.add(network.delay(), () -> {
      if (machine.isCut()) return;
      var value = code.get();
      network.pauseSometimes(machine);
      if (!network.isAnswerLost()) answer.complete(new Answer<>(value, System.nanoTime() + network.delay()));
    });
    return await(description, answer);
  }

  private <T> T await(String description, CompletableFuture<Answer<T>> answer) {
    try {
      var arrived = answer.get(ANSWER_LIMIT.toMillis(), TimeUnit.MILLISECONDS);
      DelayedLine.sleepUntil(arrived.due);
      if (!machine.isCut()) return arrived.value;
      DelayedLine.sleepUntil(System.nanoTime() + ANSWER_LIMIT.toNanos());
      throw new TransportException(Failure.UNKNOWN, description + ": the answer was lost");
    } catch (TimeoutException timeout) {
      throw new TransportException(Failure.UNKNOWN, description + ": no answer");
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
    var back = toMachine(new DelayedLine(machine.scope()));
    try {
      send(() -> servers.request(message, limit).whenComplete((wire, failure) -> back.accept(() -> {
        if (failure == null) answer.complete(wire);
        else answer.completeExceptionally(failure);
      })));
      if (network.isAnswerLost())
        answer.completeExceptionally(new TransportException(Failure.UNKNOWN, "the connection broke meanwhile"));
    } catch (TransportException cut) {
      answer.completeExceptionally(cut);
    }
    return answer;
  }

  @Override
  public Subscription subscribe(String subject, Optional<String> group, Consumer<WireMessage> reader) {
    var lines = servers.lines(machine.scope());
    var hasEnded = new AtomicBoolean(); // if true, messages that the servers still deliver are ignored
    Routes.Reader serverReader = (server, wire) -> toMachine(lines.get(server)).accept(() -> {
      if (!hasEnded.get()) reader.accept(wire);
    });
    var subscription = call("subscribe " + subject, () -> servers.subscribe(subject, group, serverReader));
    return () -> {
      end(subscription);
      lines.forEach(DelayedLine::sleepUntilLastDue);
      hasEnded.set(true);
    };
  }

  private void end(Subscription subscription) {
    if (closed) return;
    try {
      call("unsubscribe", () -> {
        subscription.close();
        return true;
      });
    } catch (TransportException cut) {
      // the subscription ends with the connection
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

  /**
   * Watches entries of the table. While the machine is cut off, notifications of changes wait. The
   * servers forget after an hour that an entry was deleted.
   */
  @Override
  public Subscription watch(String prefix, Consumer<Entry> reader) {
    var line = new DelayedLine(machine.scope());
    var subscription = call("watch " + prefix,
        () -> servers.watch(prefix, entry -> {
          long forgottenAt = System.nanoTime() + DELETION_MEMORY.toNanos();
          line.add(network.notificationDelay(), () -> {
            while (machine.timeUntilNotifications() > 0)
              DelayedLine.sleepUntil(System.nanoTime() + machine.timeUntilNotifications());
            boolean isForgotten = entry.value().isEmpty() && System.nanoTime() - forgottenAt > 0;
            if (!closed && !isForgotten) reader.accept(network.asSeenByWatch(entry));
          });
        }));
    return () -> end(subscription);
  }

  // ---- store and queues

  @Override
  public Store store() {
    return store;
  }

  @Override
  public Queue queue(String subject) {
    return new RemoteQueue(this, machine, servers.queue(subject), network.subscriptions(subject));
  }

  @Override
  public Optional<String> connectionProblem() {
    return machine.isCut() ? Optional.of("the connection is cut") : Optional.empty();
  }

  @Override
  public int maxBodyBytes() {
    return servers.maxBodyBytes();
  }

  @Override
  public void close() {
    if (closed) return;
    closed = true;
    store.close();
    toServers.add(network.delay(), () -> Thread.startVirtualThread(servers::close));
  }
}
