package io.fibry.cluster;

import io.fibry.cluster.LostException.Loss;
import io.fibry.pubsub.Subscription;
import io.fibry.store.Store;
import io.fibry.store.StoreBrokenException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** A node's connection to a {@link SeededNetwork}, from one connect to one close. Thread-safe. */
final class SeededEngine implements Engine {
  private static final Duration PATIENCE = Duration.ofSeconds(2); // of calls that wait for servers

  /** What arrives in order: a delay holds up all behind it. Its fields are under its monitor. */
  private final class Line {
    private final ArrayDeque<Runnable> waiting = new ArrayDeque<>(); // as long as the node stands still
    private long last;

    /** Runs it on the clock's thread. */
    synchronized void add(Duration delay, Runnable arrival) {
      long now = network.clock().nanoTime();
      last = Math.max(last, now + delay.toNanos());
      network.clock().after(Duration.ofNanos(last - now), () -> arrive(arrival));
    }

    private void arrive(Runnable arrival) {
      synchronized (this) {
        if (isStill() || !waiting.isEmpty()) {
          if (waiting.isEmpty()) network.clock().after(untilGoesOn(), this::goOn);
          waiting.add(arrival);
          return;
        }
      }
      arrival.run();
    }

    private void goOn() {
      while (true) {
        Runnable next;
        synchronized (this) {
          if (isStill()) {
            network.clock().after(untilGoesOn(), this::goOn);
            return;
          }
          next = waiting.poll();
        }
        if (next == null) return;
        next.run();
      }
    }

    synchronized long last() {
      return last;
    }
  }

  private final SeededNetwork network;
  private final String node;
  private final Line out = new Line(); // to the servers
  private final Map<String, Line> in = new ConcurrentHashMap<>(); // from them, by subject
  private final Map<String, CompletableFuture<Wire>> waiting = new ConcurrentHashMap<>(); // by where answers go
  private final Set<Runnable> open = ConcurrentHashMap.newKeySet(); // subscriptions, watches
  private final Store store;
  private volatile long stillUntil;
  private volatile long cutUntil;
  private volatile boolean closed;

  SeededEngine(SeededNetwork network, String node) {
    this.network = network;
    this.node = node;
    this.store = store(network.store());
  }

  String node() {
    return node;
  }

  // ---- faults

  /** As by SIGSTOP. */
  void standStill(Duration time) {
    stillUntil = network.clock().nanoTime() + time.toNanos();
  }

  /** Not while something arrives: that runs on the clock's thread, which must not wait. */
  private void standStillSoon() {
    var time = Duration.ofMillis(network.draw(what("stands still"), 6_000));
    network.clock().after(Duration.ZERO, () -> standStill(time));
  }

  /** As by a network that drops what passes. */
  void cut(Duration time) {
    cutUntil = network.clock().nanoTime() + time.toNanos();
  }

  void heal() {
    cutUntil = network.clock().nanoTime();
    stillUntil = cutUntil;
  }

  long stillUntil() {
    return stillUntil;
  }

  boolean isStill() {
    return !closed && stillUntil - network.clock().nanoTime() > 0;
  }

  private Duration untilGoesOn() {
    return Duration.ofNanos(Math.max(0, stillUntil - network.clock().nanoTime()));
  }

  private boolean isCut() {
    return closed || cutUntil - network.clock().nanoTime() > 0;
  }

  private void check() {
    if (closed) throw cut();
    while (isStill()) sleepUntil(stillUntil); // so does its thread
  }

  private void sleepUntil(long time) {
    try {
      network.clock().sleepUntil(time);
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw SeededNetwork.lost(Loss.UNKNOWN, "its thread was interrupted");
    }
  }

  private static LostException cut() {
    return SeededNetwork.lost(Loss.CUT, "the connection is closed");
  }

  private String what(String act) {
    return node + " " + act;
  }

  // ---- messages

  @Override
  public void publish(Wire message) {
    check();
    message.checkSize(mostBytes());
    if (isCut() && network.draw(what("knows that it is cut"), 2) == 0) throw cut();
    send(message);
  }

  private void send(Wire message) {
    out.add(network.delay(what("sends")), () -> {
      if (isCut() || network.happens(what("loses"), network.odds().lost())) return;
      network.route(this, message);
    });
  }

  @Override
  public CompletionStage<Wire> request(Wire message, Duration limit) {
    message.checkSize(mostBytes());
    var answer = new CompletableFuture<Wire>();
    String to = network.answersOf(this, answer);
    waiting.put(to, answer);
    var timer = network.clockOf(node).after(limit, () -> answer.completeExceptionally(
        SeededNetwork.lost(Loss.LATE, "no answer from " + message.subject() + " came in time")));
    answer.whenComplete((wire, failure) -> {
      timer.cancel();
      waiting.remove(to);
    });
    try {
      publish(message.answeredTo(to));
      if (network.happens(what("breaks"), network.odds().unknown()))
        answer.completeExceptionally(SeededNetwork.lost(Loss.UNKNOWN, "the connection broke meanwhile"));
    } catch (LostException cut) {
      answer.completeExceptionally(cut);
    }
    if (closed) endWaiting();
    return answer;
  }

  /** From the servers. */
  void answer(Wire wire) {
    arrive(wire.subject(), () -> complete(wire.subject(), answer -> answer.complete(wire)));
  }

  void nobody(String to) {
    arrive(to, () -> complete(to, answer -> answer.completeExceptionally(
        SeededNetwork.lost(Loss.NOBODY, "nobody gets it"))));
  }

  private void complete(String to, Consumer<CompletableFuture<Wire>> how) {
    var answer = waiting.get(to);
    if (answer != null) how.accept(answer);
  }

  void deliver(SeededNetwork.Reader reader, Wire wire) {
    arrive(reader.subject(), () -> reader.reader().accept(wire));
  }

  private void arrive(String subject, Runnable arrival) {
    if (isCut()) return;
    line(subject).add(network.delay(what("gets " + subject)), () -> {
      if (!isCut()) arrival.run();
    });
  }

  private Line line(String subject) {
    return subject.startsWith("_") ? new Line() : in.computeIfAbsent(subject, none -> new Line());
  }

  @Override
  public Subscription subscribe(String subject, Optional<String> group, Consumer<Wire> reader) {
    check();
    var one = new SeededNetwork.Reader(this, subject, group, reader);
    network.add(one);
    Runnable end = () -> network.remove(one);
    open.add(end);
    return () -> {
      end.run();
      if (!open.remove(end) || closed) return;
      sleepUntil(line(subject).last() + 1); // what is on its way comes before
    };
  }

  // ---- the table

  /** A call to the servers and its answer. Either may be lost, or the node stand still between. */
  private <T> T call(String act, Supplier<T> done) {
    String what = what(act);
    pass(network.delay(what));
    check();
    if (isCut()) {
      if (network.draw(what("knows that it is cut"), 2) == 0) throw cut();
      pass(PATIENCE);
      throw SeededNetwork.lost(Loss.UNKNOWN, act + ": no answer");
    }
    var result = done.get();
    if (network.happens(what("stands still"), network.odds().unknown())) standStillSoon();
    pass(network.delay(what));
    check();
    if (!isCut() && !network.happens(what + " without an answer", network.odds().unknown())) return result;
    pass(PATIENCE);
    throw SeededNetwork.lost(Loss.UNKNOWN, act + ": its answer was lost");
  }

  private void pass(Duration time) {
    if (time.isPositive()) sleepUntil(network.clock().nanoTime() + time.toNanos());
  }

  @Override
  public OptionalLong create(String key, byte[] value, Duration lease) {
    return call("create " + key, () -> network.table().create(key, value, lease));
  }

  @Override
  public OptionalLong update(String key, byte[] value, long version, Duration lease) {
    return call("update " + key, () -> network.table().update(key, value, version, lease));
  }

  @Override
  public boolean delete(String key, long version) {
    return call("delete " + key, () -> network.table().delete(key, version));
  }

  @Override
  public Optional<Entry> get(String key) {
    return call("get " + key, () -> network.table().get(key));
  }

  @Override
  public Subscription watch(String prefix, Consumer<Entry> reader) {
    check();
    var line = new Line();
    var news = new ArrayDeque<Entry>(); // of the clock's thread
    var end = network.table().watch(prefix, entry -> line.add(network.delay(what("hears of " + entry.key())), () -> {
      news.add(entry);
      tell(line, news, reader);
    }));
    open.add(end);
    return end::run;
  }

  /** Late, while it is cut off, never lost, and in their order. */
  private void tell(Line line, ArrayDeque<Entry> news, Consumer<Entry> reader) {
    if (closed) return;
    long left = cutUntil - network.clock().nanoTime();
    if (left > 0) line.add(Duration.ofNanos(left), () -> tell(line, news, reader));
    else while (!news.isEmpty()) reader.accept(news.poll());
  }

  // ---- the store

  @Override
  public Store store() {
    return store;
  }

  /** Its turns take time, and their answers may be lost; the other calls may fail. */
  private Store store(Store all) {
    var mine = new SharedStore(all);
    return (Store) Proxy.newProxyInstance(Store.class.getClassLoader(), new Class<?>[] {Store.class},
        (proxy, method, arguments) -> switch (method.getName()) {
          case "append" -> later("stores", () -> mine.append((Store.Turn) arguments[0]));
          case "accept" -> now("keeps", () -> mine.accept((Store.Waiting) arguments[0], (int) arguments[1]));
          case "load" -> {
            pass(network.delay(what("loads")));
            check();
            if (isCut()) throw unknown("no answer");
            yield mine.load((Store.Id) arguments[0]);
          }
          case "hashCode" -> System.identityHashCode(proxy);
          case "equals" -> proxy == arguments[0];
          default -> {
            try {
              yield method.invoke(mine, arguments);
            } catch (InvocationTargetException thrown) {
              throw thrown.getCause();
            }
          }
        });
  }

  private static StoreBrokenException unknown(String why) {
    return new StoreBrokenException(why, SeededNetwork.lost(Loss.UNKNOWN, why), true);
  }

  /** Its caller would wait by no clock that can be moved; so this sleeps by the one that can. */
  private <T> CompletionStage<T> now(String act, Supplier<CompletionStage<T>> done) {
    try {
      return call(act, done);
    } catch (LostException lost) {
      return CompletableFuture.failedFuture(unknown(lost.getMessage()));
    }
  }

  private <T> CompletionStage<T> later(String act, Supplier<CompletionStage<T>> done) {
    check();
    var answer = new CompletableFuture<T>();
    out.add(network.delay(what(act)), () -> {
      if (isCut()) fromStore().add(PATIENCE, () -> answer.completeExceptionally(unknown("no answer")));
      else done.get().whenComplete((value, failure) -> come(act, answer, value, failure));
    });
    return answer;
  }

  private Line fromStore() {
    return in.computeIfAbsent("_store", none -> new Line());
  }

  private <T> void come(String act, CompletableFuture<T> answer, T value, Throwable failure) {
    boolean lost = network.happens(what(act + " without an answer"), network.odds().unknown());
    fromStore().add(lost ? PATIENCE : network.delay(what(act)), () -> {
      if (lost || isCut()) answer.completeExceptionally(unknown("its answer was lost"));
      else if (failure == null) answer.complete(value);
      else answer.completeExceptionally(failure);
    });
  }

  // ---- the rest

  @Override
  public Queue queue(String subject) {
    throw new UnsupportedOperationException("work has its own tests");
  }

  @Override
  public Optional<String> trouble() {
    return isCut() ? Optional.of("the connection is cut") : Optional.empty();
  }

  @Override
  public int mostBytes() {
    return 1 << 20;
  }

  private void endWaiting() {
    waiting.values().forEach(answer -> answer.completeExceptionally(
        SeededNetwork.lost(Loss.UNKNOWN, "the connection was closed before an answer came")));
  }

  @Override
  public void close() {
    closed = true;
    open.forEach(Runnable::run);
    store.close();
    endWaiting();
  }
}
